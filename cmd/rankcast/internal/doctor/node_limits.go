package doctor

import (
	"fmt"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/diagnosis"
	"rankcast/server/access"
)

const filesCheck = "open files"

// leastFiles is the number of open files below which the limit is a warning. Many systems give a service 1,024
// to begin with, which a page with a thousand viewers exceeds.
const leastFiles = 10_000

// openFiles checks the limit of open files of this process, which a node started in the same way has too.
func openFiles() diagnosis.Finding { return judgeFiles(access.Config{}.Capacity()) }

func judgeFiles(c access.Capacity) diagnosis.Finding {
	f := diagnosis.Finding{Check: filesCheck}
	if c.OpenFiles == access.Unlimited {
		f.Found = "no limit"
		return f
	}
	f.Found = fmt.Sprintf("%s for this user: a node takes %s sockets, and %s connections in all", term.Thousands(int64(c.OpenFiles)), term.Thousands(int64(c.Sockets)), term.Thousands(int64(c.Connections)))
	if c.OpenFiles < leastFiles {
		f.Level, f.Fix = diagnosis.Warning, "ulimit -n 65536 in the shell that starts the node, or LimitNOFILE=65536 in its systemd unit"
	}
	return f
}
