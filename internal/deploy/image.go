package deploy

import (
	"fmt"
	"path/filepath"
	"slices"

	"stackgen/internal/check"
	"stackgen/internal/finding"
	"stackgen/internal/report"
	"stackgen/internal/tf"
)

// A node downloads the image of a template for minutes, and the provider takes a VM that has got the VMID of the template
// meanwhile for the one that it creates. So the images are downloaded by a run of their own, and what is made from them is
// planned and judged after it.

// downloaded downloads the images from which plans create templates. It returns plans of what is left to do.
func (r *run) downloaded(p *plans) (*plans, error) {
	images := p.images()
	if len(images) == 0 {
		return p, nil
	}
	st := p.stack
	if err := st.begins(p, r.p.Lock.Stacks.Get(st.name)); err != nil { // an image that is left is known by its template
		return nil, err
	}
	only, err := r.planImages(st, images)
	if err != nil {
		return nil, err
	}
	r.say("downloading %s of %s", report.Count(len(images), "image"), st.name)
	result, err := r.applyUnit(only)
	if err != nil {
		return nil, err
	}
	if r.ctx.Err() != nil || result.failed() {
		if err := r.broken(only, result, announce(nil, nil)); err != nil {
			return nil, err
		}
		return nil, ended{finding.Failed}
	}
	next, err := r.replan(p, nil, "the images of "+st.name+" were downloaded")
	if err != nil && r.ctx.Err() == nil { // a VM that somebody creates later would count as one of these
		if err := r.notMade(st); err != nil {
			return nil, err
		}
	}
	return next, err
}

// planImages plans the images of a stack, and nothing else.
func (r *run) planImages(st *stack, images []tf.Summary) (*plans, error) {
	var addresses []string
	for _, c := range images {
		addresses = append(addresses, c.Address)
	}
	p, err := r.planTargets(st, images[0].Unit, nil, addresses)
	if err != nil {
		return nil, err
	}
	for _, c := range p.changes() {
		if c.Action != tf.Create || !slices.Contains(addresses, c.Address) {
			return nil, fmt.Errorf("the plan that downloads the images of %s does more: %s %s", st.name, c.Action, c.Address)
		}
	}
	return p, nil
}

// planTargets plans resources of one unit of a stack, and what they need.
func (r *run) planTargets(st *stack, unit tf.Unit, env, addresses []string) (*plans, error) {
	files := r.files(st)
	args := []string{"run", "--all", "--out-dir", files, "--json-out-dir", files, "--", "plan", "-input=false"}
	for _, address := range addresses {
		args = append(args, "-target="+address)
	}
	result, err := r.terragrunt(st, filepath.Join(st.dir, generated, unit.Unit), files, env, args...)
	if err != nil {
		return nil, err
	}
	if result.failed() {
		return nil, toolError{problems(result.log)}
	}
	plan, err := check.ReadPlan(unit, filepath.Join(files, "tfplan.json"))
	if err != nil {
		return nil, err
	}
	return &plans{stack: st, dir: files, units: []planned{{unit: unit, plan: plan, file: filepath.Join(files, "tfplan.tfplan")}}}, nil
}

// images are the images that plans create for templates that they create.
func (p *plans) images() (out []tf.Summary) {
	all := p.changes()
	for _, c := range all {
		if c.Type == finding.Image && c.Action == tf.Create && slices.ContainsFunc(all, func(of tf.Summary) bool {
			return of.Type == finding.VM && of.Action == tf.Create && of.Unit == c.Unit && of.Key == c.Key
		}) {
			out = append(out, c)
		}
	}
	return out
}
