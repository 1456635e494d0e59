package example

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
)

// Command is rankcast example: it prints the files that the documentation uses.
type Command struct {
	Boards     printed        `cmd:"" help:"Print the boards file of all examples, for --boards and rankcast check."`
	Alerts     printed        `cmd:"" help:"Print alerts for Prometheus, of the job rankcast."`
	Grafana    printed        `cmd:"" help:"Print a dashboard for Grafana, to import."`
	Compose    printed        `cmd:"" help:"Print a compose file: two nodes, a Redis that keeps the scores, and Caddy in front."`
	Systemd    systemdCommand `cmd:"" help:"Write systemd units into a folder: nodes by their ports, and a Redis that keeps the scores."`
	Kubernetes printed        `cmd:"" help:"Print Kubernetes manifests: two nodes, and a Redis that keeps the scores."`
}

// printed is a command that prints the file of its name.
type printed struct{}

// Run prints the file on the standard output.
func (printed) Run(command *kong.Context) error {
	files := map[string][]byte{"boards": Boards, "alerts": Alerts, "grafana": Grafana, "compose": Compose, "kubernetes": Kubernetes}
	file := files[command.Selected().Name]
	if file == nil {
		panic("there is no file " + command.Selected().Name)
	}
	_, err := command.Stdout.Write(file)
	return err
}

type systemdCommand struct {
	Dir string `arg:"" type:"existingdir" help:"Folder, such as /etc/systemd/system."`
}

// Run writes the units into the folder. It replaces no file.
func (c *systemdCommand) Run() error {
	units, err := Systemd.ReadDir("systemd")
	if err != nil {
		return err
	}
	for _, unit := range units { // all or none
		if _, err := os.Lstat(filepath.Join(c.Dir, unit.Name())); err == nil {
			return fmt.Errorf("%s is there already; remove it first, or name another folder", filepath.Join(c.Dir, unit.Name()))
		}
	}
	for _, unit := range units {
		text, err := Systemd.ReadFile("systemd/" + unit.Name())
		if err != nil {
			return err
		}
		path := filepath.Join(c.Dir, unit.Name())
		if err := create(path, text); err != nil {
			return err
		}
		fmt.Println(path)
	}
	return nil
}

// create writes a new file that everybody may read.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
