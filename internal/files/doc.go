// Package files turns a list of wanted files and a folder into the changes between them, and those changes into files.
//
// [Compare] finds the changes and writes nothing, [Diff] shows a change as text, [Apply] makes the changes, and [Lock]
// serialises writers. The caller decides which files are wanted, where stale files are searched for and how a generated
// file is marked; this package knows neither specs nor HCL.
//
// What it never does:
//   - overwrite or remove a file whose first line does not carry the mark, one that was changed since it was generated, or
//     any .terraform.lock.hcl;
//   - follow a symbolic link below the project's root, or write outside that root ([os.Root] holds it there);
//   - touch a file that already has the wanted bytes;
//   - leave half a file: each is written under a temporary name in the same folder and renamed;
//   - walk into .git, .terraform, .terragrunt-cache or .terragrunt-stack;
//   - start a write when one of the changes is refused.
//
// # A run that is killed
//
// Apply may be killed at any moment. Every file is then whole, either old or new. Files are written before others are
// removed, so that an incomplete run declares a resource twice, which tofu refuses, and never omits one, which tofu would
// destroy. Temporary files named .stackgen-tmp-* remain; Compare reports them as removed, and the next Apply deletes them
// and the folders that the killed run created or emptied. A list of those folders is itself such a file, in the root.
//
// Files reach the disk's cache, not the disk: after a power failure the newest files may be missing or empty, except
// those with [File.Sync]. All others can be rendered from the specs again.
package files
