// Package disk turns a list of wanted files and a folder into the changes between them, and those changes into files.
//
// [Compare] looks and touches nothing, [Diff] shows what it found as text, [Apply] does it, and [Lock] keeps two writers
// apart. The caller decides what is wanted, where stale files may lie and what the mark of a generated file looks like;
// this package knows neither specs nor HCL.
//
// What it never does:
//   - overwrite or remove a file whose first line does not carry the mark, or any .terraform.lock.hcl;
//   - follow a symbolic link below the project's root, or write outside that root ([os.Root] holds it there);
//   - touch a file that already has the wanted bytes;
//   - leave half a file: each is written beside its place under a name of its own and renamed;
//   - walk into .git, .terraform, .terragrunt-cache or .terragrunt-stack;
//   - start a write when one of the changes is refused.
//
// # A run that is killed
//
// Apply may be killed at any moment. Every file is then whole, either old or new; written files come before removed ones,
// so that a half-done run shows a resource twice, which tofu refuses, and never too seldom, which tofu would destroy. What
// is left besides are files named .stackgen-tmp-*; Compare reports them as removed, and the next Apply takes them away
// together with the folders the killed run made or emptied. A note of those folders is itself such a file, in the root.
//
// Files reach the disk's cache, not the disk: after a power failure the newest files may be missing or empty, except
// those with [File.Sync]. Everything else is rendered again from the specs.
package disk
