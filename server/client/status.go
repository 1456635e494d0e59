package client

import "context"

// Status says whether all is well, and has the state of all nodes and of Redis.
type Status struct {
	Well     bool      `json:"well"`     // there is no problem
	Problems []Problem `json:"problems"` // those of Redis come first
	Nodes    []Node    `json:"nodes"`    // by id
	Redis    []Redis   `json:"redis"`    // the one Redis, or each master of a cluster
}

// Problem is one thing that is not well.
type Problem struct {
	Code    string `json:"code"`  // for programs, such as redis_memory
	Node    string `json:"node"`  // id of the node that has it; "" for none
	Redis   string `json:"redis"` // address of the Redis that has it; "" where it is not known
	Message string `json:"message"`
	Advice  string `json:"advice"` // what to do
}

// Node is what a node, or a process of rankcast ingest, has reported of itself. A pointer is nil where nothing is known.
type Node struct {
	ID            string   `json:"id"`
	Role          string   `json:"role"` // serve or ingest
	Version       string   `json:"version"`
	Reason        *string  `json:"reason"` // why it is not ready; nil: it is
	Sockets       int64    `json:"sockets"`
	Streams       int64    `json:"streams"`
	Subscriptions int64    `json:"subscriptions"`
	Frames        float64  `json:"frames"`  // a second
	Updates       float64  `json:"updates"` // a second
	CPU           *float64 `json:"cpu"`     // cores in use
	Memory        *int64   `json:"memory"`  // bytes
	P50           *float64 `json:"p50"`     // time from a score to its frame, in ms, in the last minute
	P99           *float64 `json:"p99"`
}

// Redis is the state of a Redis that takes writes. A pointer is nil where Redis does not tell the value.
type Redis struct {
	Address    *string   `json:"address"`
	Fault      *string   `json:"fault"`      // why it does not answer; nil: it does
	Version    *string   `json:"version"`    // Redis 7.2.4
	Ping       *float64  `json:"ping"`       // in ms, from the server that was asked
	Operations *int64    `json:"operations"` // commands a second
	Memory     *int64    `json:"memory"`     // bytes
	MaxMemory  *int64    `json:"max_memory"` // nil: no bound
	Clients    *int64    `json:"clients"`
	Replicas   []Replica `json:"replicas"` // those that are connected
}

// Replica is a replica of a Redis.
type Replica struct {
	Address string `json:"address"`
	Online  bool   `json:"online"` // it follows
	Behind  int64  `json:"behind"` // bytes that it has not confirmed
}

// Status reads whether all is well. It takes credentials with the scope admin. It retries like Update.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return get[Status](ctx, c, c.base+"/v1/nodes", nil, "read the state of the nodes")
}
