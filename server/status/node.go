package status

import (
	"time"

	"rankcast/hub"
)

// The roles of a process.
const (
	Serve  = "serve"
	Ingest = "ingest"
)

// Node is the report of a process about itself.
type Node struct {
	ID      string    `json:"id"` // its place and a random part, see NewID
	Role    string    `json:"role"`
	Version string    `json:"version"`
	Started *string   `json:"started"` // by the clock of its machine
	Seen    *string   `json:"seen"`    // when Redis took its last report, by the clock of Redis; nil: never
	At      time.Time `json:"-"`       // Seen
	Reason  *string   `json:"reason"`  // why it is not ready; nil: it is
	Figures
	Files
	Watchers []hub.Watched `json:"watchers"` // the boards with the most subscriptions
}

// Files is the state of all files that a node reads again.
type Files struct {
	Access *File `json:"access"` // nil without an access file
	Keys   *File `json:"keys"`   // nil without a key set
	TLS    *File `json:"tls"`    // nil without TLS
}

// File is the state of files that a node reads again when they change, or of a key set.
type File struct {
	Since   *string `json:"since"`             // when what is in force was loaded; nil for a key set that was never fetched
	Fault   *string `json:"fault"`             // why the present files are not in force; nil if they are
	Expires *string `json:"expires,omitempty"` // of the certificate in force
}
