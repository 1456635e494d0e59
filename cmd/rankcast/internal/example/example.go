// Package example holds the files that `rankcast example` prints.
package example

import _ "embed"

// Boards is the boards file of all examples in the documentation, and of the demo.
//
//go:embed boards.yaml
var Boards []byte

// Alerts are rules for Prometheus, in its YAML.
//
//go:embed alerts.yaml
var Alerts []byte

// Grafana is a dashboard, in the JSON of Grafana.
//
//go:embed grafana.json
var Grafana []byte
