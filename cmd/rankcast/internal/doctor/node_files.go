package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"rankcast/cmd/rankcast/internal/accessfile"
	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/diagnosis"
	"rankcast/server/access"
)

const (
	boardsCheck = "boards file"
	accessCheck = "access file"
)

// readBoards reads a boards file. Without a name, and where the file is not valid, the set is empty.
func readBoards(name string) (diagnosis.Finding, definition.Set) {
	f := diagnosis.Finding{Check: boardsCheck}
	if name == "" {
		return f, definition.Set{}
	}
	text, err := os.ReadFile(name)
	var set definition.Set
	if err == nil {
		set, err = definition.ParseFile(text)
	}
	if err != nil {
		f.Level, f.Found, f.Fix = diagnosis.Problem, err.Error(), "correct the file; this checks it alone: rankcast check "+name
		return f, definition.Set{}
	}
	f.Found = fmt.Sprintf("%s: %s, %s", name, diagnosis.Counted(len(set.Boards), "board"), diagnosis.Counted(len(set.Events), "event"))
	return f, set
}

// compare adds to the finding of a valid boards file whether its definitions fit those in Redis.
func compare(ctx context.Context, store *ranking.Store, f diagnosis.Finding, set definition.Set) diagnosis.Finding {
	err := store.CheckDefine(ctx, set)
	switch {
	case errors.Is(err, ranking.ErrUnavailable):
		f.Level, f.Found, f.Fix = diagnosis.Unknown, f.Found+"; whether they fit those in Redis is not known", "check again when the other problems are gone"
	case err != nil:
		f.Level, f.Found, f.Fix = diagnosis.Problem, err.Error(), "correct the file, or delete that board from Redis: a node does not start with this file"
	default:
		f.Found += "; they fit those in Redis"
	}
	return f
}

// accessFile checks an access file, and who may use it on this machine.
func accessFile(flag *accessfile.Flag) []diagnosis.Finding {
	var notes warnings
	if _, err := flag.Guard(slog.New(&notes)); err != nil {
		return []diagnosis.Finding{{Check: accessCheck, Level: diagnosis.Problem, Found: err.Error(), Fix: "correct the file: a node does not start with it"}}
	}
	if flag.File == "" {
		return []diagnosis.Finding{notes.finding("the text of the variable is valid")}
	}
	all := []diagnosis.Finding{notes.finding(flag.File + " is valid")}
	all = append(all, permissions(flag.File, groupWrites|othersWrite, "u=rw,go=r")...)
	if tokens, err := access.ReadTokenSettings(flag.File); err == nil && tokens.SecretFile != "" { // the guard has checked the file
		all = append(all, permissions(tokens.SecretFile, groupWrites|othersWrite|othersRead, "u=rw,g=r,o=")...)
	}
	return all
}

// The bits of a mode that let users other than the owner use a file.
const (
	groupWrites fs.FileMode = 0o020
	othersRead  fs.FileMode = 0o004
	othersWrite fs.FileMode = 0o002
)

// permissions warns where the mode of a file has one of the bits. An access file holds hashes of keys, which
// anybody may read; a file with a secret is for its owner.
func permissions(name string, forbidden fs.FileMode, want string) []diagnosis.Finding {
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS == "windows" { // Windows has no such bits
		return nil
	}
	may := "change"
	switch has := info.Mode().Perm() & forbidden; {
	case has == 0:
		return nil
	case has == othersRead:
		may = "read"
	}
	return []diagnosis.Finding{{Check: accessCheck, Level: diagnosis.Warning, Found: fmt.Sprintf("other users of this machine may %s %s (mode %04o)", may, name, info.Mode().Perm()), Fix: "chmod " + want + " " + name}}
}

// warnings is a slog.Handler that keeps the warnings of an access file.
type warnings struct{ all []string }

func (w *warnings) Enabled(context.Context, slog.Level) bool { return true }
func (w *warnings) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *warnings) WithGroup(string) slog.Handler            { return w }

// Handle is part of slog.Handler.
func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "warning" {
			w.all = append(w.all, a.Value.String())
		}
		return true
	})
	return nil
}

// finding is the finding of a valid access file.
func (w *warnings) finding(valid string) diagnosis.Finding {
	f := diagnosis.Finding{Check: accessCheck, Found: valid}
	if len(w.all) > 0 {
		f.Level, f.Found, f.Fix = diagnosis.Warning, valid+", but "+strings.Join(w.all, "; "), "correct the file if it shall say otherwise"
	}
	return f
}
