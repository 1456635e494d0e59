package example

import "os"

// Command is rankcast example: it prints the files that the documentation uses.
type Command struct {
	Boards  boardsCommand  `cmd:"" help:"Print the boards file of all examples, for --boards and rankcast check."`
	Alerts  alertsCommand  `cmd:"" help:"Print alerts for Prometheus, of the job rankcast."`
	Grafana grafanaCommand `cmd:"" help:"Print a dashboard for Grafana, to import."`
}

type (
	boardsCommand  struct{}
	alertsCommand  struct{}
	grafanaCommand struct{}
)

// Run prints the boards file on the standard output.
func (boardsCommand) Run() error { return write(Boards) }

// Run prints the alerts on the standard output.
func (alertsCommand) Run() error { return write(Alerts) }

// Run prints the dashboard on the standard output.
func (grafanaCommand) Run() error { return write(Grafana) }

func write(file []byte) error {
	_, err := os.Stdout.Write(file)
	return err
}
