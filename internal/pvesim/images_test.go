package pvesim_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stackgen/internal/pvesim"
)

// qcow2 returns a file with the header of an image of some size.
func qcow2(size uint64, backing bool) []byte {
	out := make([]byte, 4096)
	copy(out, "QFI\xfb")
	binary.BigEndian.PutUint32(out[4:], 3)
	if backing {
		binary.BigEndian.PutUint64(out[8:], 512)
	}
	binary.BigEndian.PutUint64(out[24:], size)
	return out
}

func ova(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, n := range names {
		if err := w.WriteHeader(&tar.Header{Name: n, Mode: 0o600, Size: 3}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// imageServer serves files by their path. /moved redirects to the qcow2 image.
func imageServer(t *testing.T) *httptest.Server {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(bytes.Repeat([]byte("x"), 5000)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	vmdk := append([]byte("KDMV\x01\x00\x00\x00\x00\x00\x00\x00"), binary.LittleEndian.AppendUint64(nil, 4<<30/512)...)
	files := map[string][]byte{
		"/a.qcow2": qcow2(2<<30, false), "/backed.qcow2": qcow2(2<<30, true), "/text.qcow2": []byte("not an image"),
		"/a.vmdk": vmdk, "/a.ova": ova(t, "a.ovf", "a-disk1.vmdk"), "/no.ova": ova(t, "readme"), "/text.ova": []byte("no archive"),
		"/a.raw": make([]byte, 1000), "/a.iso.gz": packed.Bytes(), "/broken.iso.gz": packed.Bytes()[:20],
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/a.qcow2", http.StatusFound)
			return
		}
		body, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/x-test; charset=binary")
		if r.URL.Path == "/a.raw" {
			w.Header().Set("Content-Disposition", `attachment; filename="named.raw"`)
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// secureServer is the same with a certificate that no node trusts.
func secureServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(imageServer(t).Config.Handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it logs each node that does not trust it
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// unusedAddress returns an address of the loopback that nobody listens on.
func unusedAddress(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	return s.URL
}

// TestQueryURLMetadata asks a server on the loopback.
func TestQueryURLMetadata(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	web, secure, closed := imageServer(t).URL, secureServer(t).URL, unusedAddress(t)
	for _, c := range []struct{ url, verify, want string }{
		{web + "/a.qcow2", "1", `{"data":{"filename":"a.qcow2","mimetype":"application/x-test","size":4096}}`},
		{web + "/moved?x=1", "1", `{"data":{"filename":"moved","mimetype":"application/x-test","size":4096}}`},
		{web + "/a.raw", "1", `{"data":{"filename":"named.raw","mimetype":"application/x-test","size":1000}}`},
		{web + "/none", "1", `invalid server response: '404 Not Found'`},
		{closed + "/x", "1", `invalid server response: '500 Can't connect to ` + strings.TrimPrefix(closed, "http://") + ` (Connection refused)'`},
		{secure + "/a.qcow2", "1", `(certificate verify failed)'`},
		{secure + "/a.qcow2", "0", `"size":4096`},
		{"ftp://127.0.0.1/x", "1", `value does not match the regex pattern`},
	} {
		r := b.do("GET", "/nodes/pve1/query-url-metadata", "url", c.url, "verify-certificates", c.verify)
		if got := string(r.Body); !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s, want %s", c.url, r.Status, got, c.want)
		}
	}
}

// TestDownloads downloads files of each kind: what the task says, and which volume is there.
func TestDownloads(t *testing.T) {
	web, secure, closed := imageServer(t).URL, secureServer(t).URL, unusedAddress(t)
	sum := fmt.Sprintf("%x", sha256.Sum256(qcow2(2<<30, false)))
	const wrong = "0123"
	for _, c := range []struct {
		name, form string // form without the URL
		url        string
		end        string // part of the exit status, or of the refusal
		log        string // part of the log
		volume     string // format and size in the list, and the size of the disk
	}{
		{"qcow2", "content=import&filename=a.qcow2", web + "/a.qcow2", "OK", "Length: 4096 (4.0K) [application/x-test]", "qcow2 4096 2147483648"},
		{"redirected", "content=import&filename=a.qcow2", web + "/moved", "OK", "Location: " + web + "/a.qcow2 [following]", "qcow2 4096 2147483648"},
		{"vmdk", "content=import&filename=a.vmdk", web + "/a.vmdk", "OK", "saved [20/20]", "vmdk 20 4294967296"},
		{"raw", "content=import&filename=a.raw", web + "/a.raw", "OK", "finished", "raw 1000 1024"},
		{"ova", "content=import&filename=a.ova", web + "/a.ova", "OK", "finished", "ova 3072"},
		{"iso", "content=iso&filename=a.iso", web + "/a.raw", "OK", "/template/iso/a.iso' finished", "iso 1000"},
		{"template of containers", "content=vztmpl&filename=a.tar.gz", web + "/a.iso.gz", "OK", "/template/cache/a.tar.gz' finished", "tgz"},
		{"compressed", "content=iso&filename=a.iso&compression=gz", web + "/a.iso.gz", "OK", "decompressing /var/lib/vz/template/iso/a.iso.tmp_dwnl.", "iso 5000"},
		{"name with a folder", "content=import&filename=../a b.qcow2", web + "/a.qcow2", "OK", "to /var/lib/vz/import/a_b.qcow2", ""},
		{"checksum", "content=import&filename=a.qcow2&checksum-algorithm=sha256&checksum=" + strings.ToUpper(sum), web + "/a.qcow2", "OK", "calculating checksum...OK, checksum verified", "qcow2 4096"},
		{"certificate not verified", "content=import&filename=a.qcow2&verify-certificates=0", secure + "/a.qcow2", "OK", "200 OK", "qcow2 4096"},
		{"wrong checksum", "content=import&filename=a.qcow2&checksum-algorithm=sha256&checksum=" + wrong, web + "/a.qcow2", "checksum mismatch: got '" + sum + "' != expect '" + wrong + "'", "calculating checksum...", "none"},
		{"certificate", "content=import&filename=a.qcow2", secure + "/a.qcow2", "download failed: ERROR: The certificate of '127.0.0.1' doesn't have a known issuer.", "is not trusted", "none"},
		{"nobody listens", "content=import&filename=a.qcow2", closed + "/a", "download failed: Connecting to " + strings.TrimPrefix(closed, "http://") + "... failed: Connection refused.", "", "none"},
		{"missing", "content=import&filename=a.qcow2", web + "/none", "download failed: exit code 8", "ERROR 404: Not Found.", "none"},
		{"other format", "content=import&filename=a.qcow2", web + "/text.qcow2", "Image is not in qcow2 format", "-f qcow2' failed: exit code 1", "none"},
		{"backing file", "content=import&filename=a.qcow2", web + "/backed.qcow2", "failed to verify file: backing file not allowed for untrusted image", "", "none"},
		{"iso with a backing file", "content=iso&filename=a.iso", web + "/backed.qcow2", "backing file not allowed", "", "none"},
		{"ova without description", "content=import&filename=a.ova", web + "/no.ova", "failed to verify file: ova archive has no .ovf file inside", "", "none"},
		{"no archive", "content=import&filename=a.ova", web + "/text.ova", "failed to verify file: command 'tar -t -f ", "does not look like a tar archive", "none"},
		{"broken archive", "content=iso&filename=a.iso&compression=gz", web + "/broken.iso.gz", "failed: exit code 1", "", "none"},
		{"compressed image", "content=import&filename=a.qcow2&compression=gz", web + "/a.qcow2", "decompression not supported for import", "", "none"},
		{"other ending", "content=import&filename=a.img", web + "/a.qcow2", "invalid filename or wrong extension", "", "none"},
		{"other ending of an iso", "content=iso&filename=a.qcow2", web + "/a.qcow2", "wrong file extension", "", "none"},
		{"other compression", "content=iso&filename=a.iso&compression=xz", web + "/a", "does not have a value in the enumeration 'gz, lzo, zst, bz2'", "", "none"},
		{"checksum without algorithm", "content=import&filename=a.qcow2&checksum=00", web + "/a.qcow2", "missing property - 'checksum' requires this property", "", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTestSim(t, pvesim.Options{})
			before := b.files("import", "iso", "vztmpl")
			r := b.as(b.sim.Token(), "POST", "/nodes/pve1/storage/local/download-url", c.form+"&url="+c.url)
			end, log := string(r.Body), []string(nil)
			if r.Status == 200 {
				upid := upidIn(string(r.Body))
				end, log = b.wait(upid), b.log(upid)
			}
			if end != c.end && (c.end == "OK" || !strings.Contains(end, c.end)) {
				t.Errorf("it ended %q, want %q; log: %q", end, c.end, log)
			}
			if text := strings.Join(log, "\n"); !strings.Contains(text, c.log) {
				t.Errorf("the log lacks %q: %q", c.log, log)
			}
			after := strings.TrimPrefix(b.files("import", "iso", "vztmpl"), before)
			if c.volume == "none" != (after == "") || after != "" && !strings.HasPrefix(after, c.volume) {
				t.Errorf("the volumes are %q after the download, want %q", after, c.volume)
			}
		})
	}
}

// upidIn is the task that an answer names.
func upidIn(answer string) string {
	_, rest, _ := strings.Cut(answer, `"data":"`)
	upid, _, _ := strings.Cut(rest, `"`)
	return upid
}

// files returns format, size and disk size of the files of some content types on local.
func (b *testSim) files(kinds ...string) (out string) {
	b.t.Helper()
	for _, k := range kinds {
		for _, v := range b.data("GET", "/nodes/pve1/storage/local/content", "content", k).([]any) {
			m := v.(map[string]any)
			info := b.data("GET", "/nodes/pve1/storage/local/content/"+m["volid"].(string)).(map[string]any)
			out += fmt.Sprintf("%v %.0f %.0f\n", m["format"], m["size"], info["size"])
		}
	}
	return out
}

// TestExistingFiles downloads to names that are taken, and removes the file.
func TestExistingFiles(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	web := imageServer(t).URL
	sum := fmt.Sprintf("%x", sha256.Sum256(qcow2(2<<30, false)))
	get := func(more ...string) string {
		end, _ := b.task("POST", "/nodes/pve1/storage/local/download-url",
			append([]string{"content", "import", "filename", "a.qcow2", "url", web + "/a.qcow2"}, more...)...)
		return end
	}
	remove := func() string {
		end, _ := b.task("DELETE", "/nodes/pve1/storage/local/content/local:import/a.qcow2")
		return end
	}
	for i, c := range []struct{ got, want string }{
		{get(), "OK"},
		{get(), "refusing to override existing file '/var/lib/vz/import/a.qcow2'"},
		{get("checksum-algorithm", "sha256", "checksum", sum), "OK"},
		{get("checksum-algorithm", "sha256", "checksum", "00"), "checksum mismatch: got '" + sum + "' != expect '00', aborting"},
		{remove(), "OK"}, {remove(), "OK"}, {get(), "OK"},
	} {
		if c.got != c.want {
			t.Errorf("step %d ended %q, want %q", i, c.got, c.want)
		}
	}
}

// TestFullStorage downloads to a storage without space.
func TestFullStorage(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	b.sim.Change(func(s *pvesim.Seed) { s.Storages[0].Full = true })
	end, _ := b.task("POST", "/nodes/pve1/storage/local/download-url", "content", "import", "filename", "a.qcow2", "url", imageServer(t).URL+"/a.qcow2")
	if !strings.HasPrefix(end, "download failed: Cannot write to '/var/lib/vz/import/a.qcow2.tmp_dwnl.") || !strings.HasSuffix(end, "(No space left on device).") {
		t.Errorf("the download ended %q", end)
	}
}

// TestUpload uploads an image, which replaces one of the same name.
func TestUpload(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	upload := func(body []byte, fields ...string) string {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		for i := 0; i+1 < len(fields); i += 2 {
			if err := w.WriteField(fields[i], fields[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		file, err := w.CreateFormFile("filename", "a.qcow2")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(body); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		h := http.Header{"Authorization": {"PVEAPIToken=" + b.sim.Token()}, "Content-Type": {w.FormDataContentType()}}
		r := b.sim.Do(context.Background(), pvesim.Request{Method: "POST", Path: "/api2/json/nodes/pve1/storage/local/upload", Header: h, Body: form.Bytes()})
		if r.Status != 200 {
			return r.Reason + string(r.Body)
		}
		return b.wait(upidIn(string(r.Body)))
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(qcow2(1<<30, false)))
	for i, c := range []struct{ got, want string }{
		{upload(qcow2(2<<30, false), "content", "import"), "OK"},
		{upload(qcow2(1<<30, false), "content", "import", "checksum-algorithm", "sha256", "checksum", sum), "OK"},
		{upload(qcow2(3<<30, false), "content", "import", "checksum-algorithm", "sha256", "checksum", sum), "checksum mismatch: got '"},
		{upload([]byte("text"), "content", "import"), "Image is not in qcow2 format"},
		{upload([]byte("text"), "content", "iso"), "wrong file extension"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("upload %d ended %q, want %q", i, c.got, c.want)
		}
	}
	if got := b.files("import"); got != "qcow2 4096 1073741824\n" {
		t.Errorf("the volumes are %q", got)
	}
}

// TestImport fills disks from an image, on storages with and without its format.
func TestImport(t *testing.T) {
	const image = "shared:import/debian-12-genericcloud-amd64.qcow2"
	for _, c := range []struct{ drive, end, line string }{
		{"local-lvm:0,import-from=" + image, "OK", "local-lvm:vm-600-disk-0,size=3G"},
		{"local:0,import-from=" + image, "OK", "local:600/vm-600-disk-0.qcow2,size=3G"},
		{"local:0,import-from=" + image + ",format=raw,ssd=1", "OK", "local:600/vm-600-disk-0.raw,size=3G,ssd=1"},
		{"local:0,import-from=shared:9000/base-9000-disk-0.qcow2", "OK", "local:600/vm-600-disk-0.qcow2,size=3G"},
		{"local:8,import-from=" + image, "'import-from' requires special syntax", ""},
		{"local:0,import-from=shared:iso/debian-12-netinst.iso", "has wrong type 'iso'", ""},
		{"local:0,import-from=shared:import/none.qcow2", "unable to create VM 600 - failed to stat '/mnt/pve/shared/import/none.qcow2'", ""},
		{"local:0,import-from=shared:import/a.ova", "not a QEMU image format 'ova'", ""},
		{"local:0,import-from=shared:999/vm-999-disk-0.qcow2", "cannot import from 'shared:999/vm-999-disk-0.qcow2' - could not get size of", ""},
		{"local:0,import-from=/tmp/a.qcow2", "Only root can pass arbitrary filesystem paths.", ""},
	} {
		b := newTestSim(t, pvesim.Options{})
		r := b.do("POST", "/nodes/pve1/qemu", "vmid", "600", "scsi0", c.drive)
		end := string(r.Body)
		if r.Status == 200 {
			end = b.wait(upidIn(end))
		}
		if end != c.end && (c.end == "OK" || !strings.Contains(end, c.end)) {
			t.Errorf("%s ended %q, want %q", c.drive, end, c.end)
			continue
		}
		if c.end == "OK" && b.config("pve1", 600)["scsi0"] != c.line {
			t.Errorf("%s made %v, want %s", c.drive, b.config("pve1", 600)["scsi0"], c.line)
		}
	}
}

// TestImportTakesTime checks that an import copies with the bandwidth of the storage.
func TestImportTakesTime(t *testing.T) {
	b := newTestSim(t, pvesim.Options{Bandwidth: 100 << 20})
	end, took := b.task("POST", "/nodes/pve1/qemu", "vmid", "600", "scsi0", "local-lvm:0,import-from=shared:import/debian-12-genericcloud-amd64.qcow2")
	if end != "OK" || took.Seconds() < 30 || took.Seconds() > 32 {
		t.Errorf("the import of 3 GiB at 100 MiB a second ended %q after %v", end, took)
	}
	end, took = b.task("POST", "/nodes/pve1/qemu/600/config", "scsi1", "local-lvm:0,import-from=shared:import/debian-12-genericcloud-amd64.qcow2")
	if end != "OK" || took.Seconds() < 30 || b.config("pve1", 600)["scsi1"] != "local-lvm:vm-600-disk-1,size=3G" {
		t.Errorf("the import into a VM ended %q after %v: %v", end, took, b.config("pve1", 600)["scsi1"])
	}
}

// TestImageRights checks the privileges that images need.
func TestImageRights(t *testing.T) {
	web := imageServer(t).URL
	const down = "/nodes/pve1/storage/local/download-url"
	const create = "/nodes/pve1/qemu"
	form := "content=import&filename=a.qcow2&url=" + web + "/a.qcow2"
	disk := "vmid=600&scsi0=local%3A0,import-from%3Dshared%3Aimport/debian-12-genericcloud-amd64.qcow2"
	for _, c := range []struct{ has, method, path, form, want string }{
		{"Datastore.AllocateTemplate,Sys.AccessNetwork", "POST", down, form, ""},
		{"Datastore.AllocateTemplate,Sys.Audit,Sys.Modify", "POST", down, form, ""},
		{"Datastore.AllocateTemplate,Sys.Audit", "POST", down, form, "Permission check failed"},
		{"Sys.AccessNetwork", "POST", down, form, "(/storage/local, Datastore.AllocateTemplate)"},
		{"Sys.AccessNetwork", "GET", "/nodes/pve1/query-url-metadata?url=" + web + "/a.qcow2", "", ""},
		{"Sys.Audit", "GET", "/nodes/pve1/query-url-metadata?url=" + web + "/a.qcow2", "", "Permission check failed"},
		{"VM.Allocate,Datastore.AllocateSpace", "POST", create, disk, ""},
		{"VM.Allocate", "POST", create, disk, "(/storage/local, Datastore.AllocateSpace)"},
		{"VM.Allocate,Datastore.AllocateSpace,Datastore.Audit", "POST", create, "vmid=600&scsi0=local%3A0,import-from%3Dshared%3A9000/base-9000-disk-0.qcow2", "(/vms/9000, VM.Clone)"},
		{"Datastore.Allocate", "DELETE", "/nodes/pve1/storage/shared/content/shared:import/debian-12-genericcloud-amd64.qcow2", "", ""},
		{"Datastore.AllocateTemplate", "DELETE", "/nodes/pve1/storage/shared/content/shared:import/debian-12-genericcloud-amd64.qcow2", "", "(/storage/shared, Datastore.Allocate)"},
		{"Datastore.Audit", "GET", "/nodes/pve1/storage/shared/content/shared:import/debian-12-genericcloud-amd64.qcow2", "", ""},
		{"VM.Audit", "GET", "/nodes/pve1/storage/shared/content/shared:import/debian-12-genericcloud-amd64.qcow2", "", "(/storage/shared, Datastore.AllocateSpace|Datastore.Audit)"},
	} {
		seed, err := pvesim.DefaultSeed()
		if err != nil {
			t.Fatal(err)
		}
		seed.Users = append(seed.Users, &pvesim.User{ID: "ci@pve", Tokens: []*pvesim.Token{{ID: "t", Secret: "s"}}})
		seed.Roles = append(seed.Roles, &pvesim.Role{ID: "Narrow", Privileges: strings.Split(c.has, ",")})
		seed.ACL = append(seed.ACL, &pvesim.Grant{Path: "/", To: "ci@pve", Role: "Narrow"})
		b := newTestSim(t, pvesim.Options{Seed: seed})
		h := http.Header{"Authorization": {"PVEAPIToken=ci@pve!t=s"}}
		r := pvesim.Request{Method: c.method, Path: "/api2/json" + c.path, Header: h}
		if c.form != "" {
			h.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = []byte(c.form)
		}
		resp := b.sim.Do(context.Background(), r)
		if (resp.Status == 200) != (c.want == "") || !strings.Contains(resp.Reason, c.want) {
			t.Errorf("%s %s with %s: %d %s, want %q", c.method, c.path, c.has, resp.Status, resp.Reason, c.want)
		}
	}
}

// TestContentLists checks which volumes a list for a guest and for a content type has.
func TestContentLists(t *testing.T) {
	b := newTestSim(t, pvesim.Options{})
	for _, c := range []struct {
		filter []string
		want   int
	}{
		{nil, 12}, {[]string{"content", "import"}, 1}, {[]string{"content", "iso"}, 1}, {[]string{"content", "images"}, 9},
		{[]string{"content", "rootdir"}, 0}, {[]string{"vmid", "9000"}, 3}, {[]string{"vmid", "9000", "content", "iso"}, 0},
	} {
		if got := b.data("GET", "/nodes/pve1/storage/shared/content", c.filter...).([]any); len(got) != c.want {
			t.Errorf("%v lists %d volumes, want %d: %v", c.filter, len(got), c.want, got)
		}
	}
}
