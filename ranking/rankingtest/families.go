package rankingtest

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"time"

	"rankcast/ranking/definition"
)

// whole makes Families return all definitions, instead of so many that each pair of values occurs.
var whole = flag.Bool("whole", false, "test all combinations of mode, order, ties, limit and member_ttl")

// Families returns definitions by name, each of a family with one placeholder. They differ in
// mode, order, ties, limit (none or the given one) and member_ttl. With the flag -whole all
// combinations are there; without it so many that each pair of values occurs in one of them. Some more are of boards with shards.
func Families(limit int64) map[string]definition.Board {
	type product struct {
		mode  definition.Mode
		order definition.Order
		ties  definition.Ties
		limit int64
		ttl   time.Duration
	}
	var products []product
	for _, mode := range []definition.Mode{definition.Sum, definition.Best, definition.Last} {
		for _, order := range []definition.Order{definition.Desc, definition.Asc} {
			for _, ties := range []definition.Ties{definition.First, definition.Shared, definition.Dense, definition.ByMember} {
				for _, limit := range []int64{0, limit} {
					for _, ttl := range []time.Duration{0, time.Hour} {
						if limit == 0 || mode != definition.Sum {
							products = append(products, product{mode, order, ties, limit, ttl})
						}
					}
				}
			}
		}
	}
	pairs := func(p product) (pairs []string) {
		values := []string{string(p.mode), string(p.order), string(p.ties), fmt.Sprint("limit ", p.limit), fmt.Sprint("ttl ", p.ttl)}
		for i, v := range values {
			for _, w := range values[i+1:] {
				pairs = append(pairs, v+", "+w)
			}
		}
		return pairs
	}
	met := make(map[string]bool)
	news := func(p product) (n int) {
		for _, pair := range pairs(p) {
			if !met[pair] {
				n++
			}
		}
		return n
	}
	definitions := make(map[string]definition.Board)
	for i := 0; len(products) > 0; i++ {
		slices.SortStableFunc(products, func(p, q product) int { return cmp.Compare(news(q), news(p)) })
		p := products[0]
		if products = products[1:]; !*whole && news(p) == 0 {
			break
		}
		for _, pair := range pairs(p) {
			met[pair] = true
		}
		name := fmt.Sprintf("%s-%s-%s-%d-%v", p.mode, p.order, p.ties, p.limit, p.ttl)
		bound := []int64{12, 1 << 40}[i%2]
		def := definition.Board{
			Name: name + ":{n}", Mode: p.mode, Order: p.order, Ties: p.ties, Limit: p.limit, MemberTTL: p.ttl,
			Min: new(-bound / 2), Max: new(bound), MaxChange: bound,
		}
		if i%3 > 0 { // a period without a rollover during the test
			def.Period, def.Base = "3660d", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		definitions[name] = def
	}
	maps.Copy(definitions, sharded())
	return definitions
}

// sharded returns definitions of boards with shards, by name. With the flag -whole all combinations of their number with the modes, orders
// and ties that they may have are there.
func sharded() map[string]definition.Board {
	definitions := make(map[string]definition.Board)
	modes, orders := []definition.Mode{definition.Sum, definition.Best, definition.Last}, []definition.Order{definition.Desc, definition.Asc}
	allTies := []definition.Ties{definition.First, definition.Shared, definition.ByMember}
	for i, shards := range []int{2, 3, 16} {
		for j := range len(modes) * len(orders) * len(allTies) {
			if j > 0 && !*whole {
				break
			}
			mode, order, ties := modes[(i+j)%3], orders[(i+j/3)%2], allTies[(i+j/6)%3]
			name := fmt.Sprintf("%s-%s-%s-shards-%d", mode, order, ties, shards)
			definitions[name] = definition.Board{
				Name: name + ":{n}", Mode: mode, Order: order, Ties: ties, Shards: shards,
				Min: new(int64(-1 << 40)), Max: new(int64(1 << 41)), MaxChange: 1 << 41,
			}
		}
	}
	return definitions
}
