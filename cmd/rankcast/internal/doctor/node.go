package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"rankcast/cmd/rankcast/internal/accessfile"
	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/doctor"
	"rankcast/server/access"
)

// boardsFile checks a boards file, and whether its definitions fit those of a Store. store is nil without a Redis.
func boardsFile(ctx context.Context, name string, store *ranking.Store) doctor.Finding {
	f := doctor.Finding{Check: doctor.BoardsFile}
	text, err := os.ReadFile(name)
	var set definition.Set
	if err == nil {
		set, err = definition.ParseFile(text)
	}
	f.Found = fmt.Sprintf("%s: %s, %s", name, doctor.Counted(len(set.Boards), "board"), doctor.Counted(len(set.Events), "event"))
	if err == nil && store != nil {
		err = store.CheckDefine(ctx, set)
		f.Found += "; they fit those in Redis"
	}
	switch {
	case errors.Is(err, definition.ErrUnavailable):
		f.Level, f.Found, f.Fix = doctor.Unknown, err.Error(), "check again when the other problems are gone"
	case err != nil:
		f.Level, f.Found, f.Fix = doctor.Problem, err.Error(),
			"correct the file, or delete that board from Redis: a node does not start with this file"
	}
	return f
}

// accessFile checks an access file. What may be a mistake goes to the log, as at the start of a node.
func accessFile(flag *accessfile.Flag) doctor.Finding {
	f := doctor.Finding{Check: doctor.AccessFile, Found: "valid"}
	if _, err := flag.Guard(slog.New(slog.NewTextHandler(os.Stderr, nil))); err != nil {
		f.Level, f.Found, f.Fix = doctor.Problem, err.Error(), "correct the file: a node does not start with it"
	}
	return f
}

// leastFiles is the number of open files below which the limit is a warning. Many systems give a service 1,024
// to begin with, which a page with a thousand viewers exceeds.
const leastFiles = 10_000

// openFiles checks the limit of open files of this process, which a node started in the same way has too.
func openFiles(c access.Capacity) doctor.Finding {
	f := doctor.Finding{Check: doctor.OpenFiles, Found: "no limit"}
	if c.OpenFiles == access.Unlimited {
		return f
	}
	f.Found = fmt.Sprintf("%s for this user: a node takes %s sockets, and %s connections in all",
		term.Thousands(int64(c.OpenFiles)), term.Thousands(int64(c.Sockets)), term.Thousands(int64(c.Connections)))
	if c.OpenFiles < leastFiles {
		f.Level, f.Fix = doctor.Warning, "ulimit -n 65536 in the shell that starts the node, or LimitNOFILE=65536 in its systemd unit"
	}
	return f
}
