package deploy

import (
	"testing"

	"stackgen/guest"
	"stackgen/internal/tf"
)

// TestCoversWhatIsMadeFromImages: once an image is there, its ID is known, and nothing else of what is made from it may
// be another than was confirmed.
func TestCoversWhatIsMadeFromImages(t *testing.T) {
	t.Parallel()
	image := &tf.ResourceChange{Address: "image", Managed: true, Type: guest.FileResource, Key: "1-pve1", Action: tf.Create}
	template := func(memory float64, from any) *tf.ResourceChange {
		disk := map[string]any{"interface": "scsi0", "size": 4.0}
		if from != nil {
			disk["import_from"] = from
		}
		return &tf.ResourceChange{Address: "vm", Managed: true, Type: guest.VMResource, Key: "1-pve1", Action: tf.Create,
			After: map[string]any{"vm_id": 9100.0, "memory": []any{map[string]any{"dedicated": memory}}, "disk": []any{disk}}}
	}
	planOf := func(changes ...*tf.ResourceChange) *plans {
		return &plans{units: []planned{{unit: tf.VMUnit("base"), plan: &tf.Plan{Changes: changes}}}}
	}
	const id = "local:import/base-1.qcow2"
	p := planOf(image, template(1024, nil))
	if images := p.images(); len(images) != 1 || images[0].Address != "image" {
		t.Fatalf("the images are %v", images)
	}
	if images := planOf(image).images(); len(images) > 0 {
		t.Errorf("an image from which nothing is made is downloaded first: %v", images)
	}
	for name, c := range map[string]struct {
		next *plans
		want bool
	}{
		"its ID is known":         {planOf(template(1024, id)), true},
		"other memory":            {planOf(template(2048, id)), false},
		"another VM":              {planOf(template(1024, id), &tf.ResourceChange{Address: "other", Managed: true, Type: guest.VMResource, Action: tf.Create}), false},
		"nothing is left to make": {planOf(), true},
	} {
		if got := p.covers(c.next, nil); got != c.want {
			t.Errorf("%s: covered is %v", name, got)
		}
	}
}
