package ingest

import (
	"testing"
	"time"

	"rankcast/ranking/redistest"
)

const hour = time.Hour

func TestMain(m *testing.M) { redistest.Main(m) }
