package real

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkRebuild measures `stackgen rebuild --all` of one VM and of 20, at the parallelism that
// `stackgen resolve --explain` advises, beside a destroy and an apply of the same VMs. A clone takes
// cloneTime.
func BenchmarkRebuild(b *testing.B) {
	m := cloneModels()[0]
	for _, n := range []int{1, 20} {
		b.Run(fmt.Sprintf("vms=%d", n), func(b *testing.B) {
			for b.Loop() {
				advised := advisedFor(newStackBenchOf(b, m.sim, benchSpec(20, m.clone, 1)))
				g := newStackBenchOf(b, m.sim, benchSpec(n, m.clone, advised))
				for _, command := range []string{"apply", "rebuild live --all", "destroy", "apply"} {
					began := time.Now()
					g.run(g.dir, stackgen, append(strings.Fields(command), "--yes")...)
					b.ReportMetric(time.Since(began).Seconds(), strings.Fields(command)[0]+"-s")
				}
				b.ReportMetric(float64(advised), "parallelism")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
