package proxmox

import (
	"context"
	"net/url"
)

// Online returns which nodes the cluster has, and whether it reports them as online. Every
// token may read that.
func (t *Tasks) Online(ctx context.Context) (map[string]bool, error) {
	var list []struct {
		Node   string `json:"node"`
		Status string `json:"status"`
	}
	if err := t.once(ctx, "/nodes", &list); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, n := range list {
		out[n.Node] = n.Status != "offline"
	}
	return out, nil
}

// Silence returns why the API of a node does not answer the node that is asked, or nothing:
// also if a request had no answer in time, as that of a busy node.
func (t *Tasks) Silence(ctx context.Context, node string) string {
	var v version
	if err := t.once(ctx, "/nodes/"+url.PathEscape(node)+"/version", &v); statusCode(err) == statusNodeDown {
		return silence(err)
	}
	return ""
}

// Answered reports whether an error is what a server answered.
func Answered(err error) bool { return statusCode(err) != 0 }
