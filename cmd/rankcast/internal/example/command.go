package example

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Command is rankcast example: it prints the files that the documentation uses.
type Command struct {
	Boards     boardsCommand     `cmd:"" help:"Print the boards file of all examples, for --boards and rankcast check."`
	Alerts     alertsCommand     `cmd:"" help:"Print alerts for Prometheus, of the job rankcast."`
	Grafana    grafanaCommand    `cmd:"" help:"Print a dashboard for Grafana, to import."`
	Compose    composeCommand    `cmd:"" help:"Print a compose file: two nodes, a Redis that keeps the scores, and Caddy in front."`
	Systemd    systemdCommand    `cmd:"" help:"Write systemd units into a folder: nodes by their ports, and a Redis that keeps the scores."`
	Kubernetes kubernetesCommand `cmd:"" help:"Print Kubernetes manifests: two nodes, and a Redis that keeps the scores."`
}

type (
	boardsCommand     struct{}
	alertsCommand     struct{}
	grafanaCommand    struct{}
	composeCommand    struct{}
	kubernetesCommand struct{}
	systemdCommand    struct {
		Dir string `arg:"" type:"existingdir" help:"Folder, such as /etc/systemd/system."`
	}
)

// Run prints the boards file on the standard output.
func (boardsCommand) Run() error { return write(Boards) }

// Run prints the alerts on the standard output.
func (alertsCommand) Run() error { return write(Alerts) }

// Run prints the dashboard on the standard output.
func (grafanaCommand) Run() error { return write(Grafana) }

// Run prints the compose file on the standard output.
func (composeCommand) Run() error { return write(Compose) }

// Run prints the manifests on the standard output.
func (kubernetesCommand) Run() error { return write(Kubernetes) }

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

func write(file []byte) error {
	_, err := os.Stdout.Write(file)
	return err
}
