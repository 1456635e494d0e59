package pipeline_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking/internal/pipeline"
	"rankcast/ranking/redistest"
)

// BenchmarkSend compares Send with Process and Pipeline of go-redis, in turns in one run. Each unit
// has as many calls of a script as an event has boards, or one. It prints the CPU of this process
// and of Redis for each unit; the script does next to nothing.
func BenchmarkSend(b *testing.B) {
	r := redistest.Start(b, redistest.InMemory...)
	c := connect(b, r.URL())
	sha := redistest.Must(c.ScriptLoad(b.Context(), "return {'ok', ARGV[1]}").Result())(b)
	unit := func(size int) []pipeline.Command {
		cmds := make([]pipeline.Command, size)
		for i := range cmds {
			args := []any{"evalsha", sha, 12}
			for k := range 12 {
				args = append(args, fmt.Sprint("rc:{board:", i, "}:key", k))
			}
			for a := range 35 {
				args = append(args, fmt.Sprint("argument-", a))
			}
			cmds[i] = redis.NewCmd(context.Background(), args...)
		}
		return cmds
	}
	ways := map[string]func([]pipeline.Command) error{
		"send": func(cmds []pipeline.Command) error { return c.Send(b.Context(), nil, cmds...) },
		"process": func(cmds []pipeline.Command) error {
			var wg sync.WaitGroup
			for _, cmd := range cmds[1:] {
				wg.Go(func() { c.Process(b.Context(), cmd) })
			}
			err := c.Process(b.Context(), cmds[0])
			wg.Wait()
			return err
		},
		"pipeline": func(cmds []pipeline.Command) error {
			p := c.Pipeline()
			for _, cmd := range cmds {
				p.Process(b.Context(), cmd)
			}
			_, err := p.Exec(b.Context())
			return err
		},
	}
	for _, callers := range []int{1, 2, 32} {
		for _, size := range []int{1, 5} {
			b.Run(fmt.Sprintf("callers=%d/size=%d", callers, size), func(b *testing.B) {
				const turn = 3200 // units
				used := make(map[string][3]time.Duration)
				for b.Loop() {
					for name, way := range ways {
						client, server, start := clientCPU(b), redistest.MainThreadCPU(b, r.Admin()), time.Now()
						var wg sync.WaitGroup
						for range callers {
							wg.Go(func() {
								cmds := unit(size)
								for range turn / callers {
									if err := way(cmds); err != nil {
										b.Error(err)
									}
								}
							})
						}
						wg.Wait()
						u := used[name]
						used[name] = [3]time.Duration{
							u[0] + clientCPU(b) - client,
							u[1] + redistest.MainThreadCPU(b, r.Admin()) - server,
							u[2] + time.Since(start),
						}
					}
				}
				b.ReportMetric(0, "ns/op")
				for name, u := range used {
					for i, of := range []string{"client", "redis", "wall"} {
						b.ReportMetric(float64(u[i].Nanoseconds())/1e3/turn/float64(b.N), name+"-"+of+"-µs")
					}
				}
			})
		}
	}
}

// clientCPU is what this process has used so far.
func clientCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
