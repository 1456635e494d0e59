package redisconn_test

import (
	"testing"

	"rankcast/ranking/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }
