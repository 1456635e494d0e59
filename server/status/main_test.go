package status

import (
	"testing"

	"rankcast/ranking/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }
