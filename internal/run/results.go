package run

import (
	"context"
	"iter"
)

// resultsAtOnce is how many results are read at once.
const resultsAtOnce = 500

// resultReader is who reads pages of results.
type resultReader interface {
	Results(ctx context.Context, q ResultQuery) ([]Result, error)
}

// AllResults answers all results that a query asks for, page after page, in the order of their
// positions. Its Limit bounds a page and not the whole; 0 stands for 500. An error ends it.
func AllResults(ctx context.Context, from resultReader, q ResultQuery) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		if q.Limit <= 0 {
			q.Limit = resultsAtOnce
		}
		for q.After = -1; ; {
			page, err := from.Results(ctx, q)
			if err != nil {
				yield(Result{}, err)
				return
			}
			for _, x := range page {
				q.After = x.Position
				if !yield(x, nil) {
					return
				}
			}
			if len(page) < q.Limit {
				return
			}
		}
	}
}
