//go:build linux

package localredis_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"rankcast/ranking"
	"rankcast/ranking/localredis"
	"rankcast/ranking/redistest"
)

// ownerEnv makes the test program the owner of a directory, until a test kills it.
const ownerEnv = "LOCALREDIS_TEST_OWNER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownerEnv); dir != "" {
		own(dir)
		return
	}
	ranking.LogTo(slog.New(slog.DiscardHandler)) // a client logs each dial that fails
	redistest.Main(m)
}

// own starts a server, prints a line, and waits for its own end.
func own(dir string) {
	if _, err := localredis.Start(context.Background(), localredis.Config{Dir: dir}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("started")
	select {}
}
