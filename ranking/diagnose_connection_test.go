package ranking_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/diagnosis"
	"rankcast/ranking/redistest"
)

// onPort starts a Redis, and returns its host:port.
func onPort(t testing.TB) string {
	return strings.TrimPrefix(redistest.StartProxy(t, redistest.Start(t).URL()).URL(), "redis://")
}

// only returns the one finding about the connection. No other check may say anything when nothing has answered.
func only(t testing.TB, all []diagnosis.Finding) diagnosis.Finding {
	t.Helper()
	require.Len(t, all, 1)
	require.Equal(t, diagnosis.Connection, all[0].Check)
	require.Equal(t, diagnosis.Problem, all[0].Level)
	require.NotEmpty(t, all[0].Fix)
	return all[0]
}

// askSentinels waits until DiagnoseSentinels has such findings. A Sentinel of a busy machine may answer late.
func askSentinels(t testing.TB, url string, want ...diagnosis.Finding) {
	t.Helper()
	redistest.Eventually(t, "the answers of the Sentinels", func() error {
		all, err := ranking.DiagnoseSentinels(t.Context(), url)
		if err != nil || len(all) != len(want) {
			return fmt.Errorf("%v, %w", all, err)
		}
		for i, f := range all {
			if f.Level != want[i].Level || !strings.HasPrefix(f.Found, want[i].Found) || !strings.Contains(f.Fix, want[i].Fix) {
				return fmt.Errorf("%+v", f)
			}
		}
		return nil
	})
}

// A plain Redis at the address of a Sentinel is no Sentinel. Nothing has answered then, so no check of Redis is ok.
func TestDiagnoseNoSentinel(t *testing.T) {
	t.Parallel()
	address := onPort(t)
	url := "redis-sentinel://app:secret@" + address + "/mymaster"
	askSentinels(t, url, diagnosis.Finding{Level: diagnosis.Problem, Found: address + " is no Sentinel: ", Fix: "give the addresses of the Sentinels in --redis, with port 26379 by default; or use redis://"})
	s := doctor(t, url)
	f := only(t, s.Diagnose(t.Context()))
	require.Contains(t, f.Found, "no Sentinel names the master: ")
	require.NotContains(t, f.Found, "secret")
	_, err := s.DiagnoseSettings(t.Context())
	require.ErrorIs(t, err, ranking.ErrUnavailable)

	all, err := ranking.DiagnoseSentinels(t.Context(), "redis://"+address)
	require.NoError(t, err)
	require.Empty(t, all, "this URL has no Sentinel")
	_, err = ranking.DiagnoseSentinels(t.Context(), address)
	require.ErrorContains(t, err, "has no scheme")
}

// The Sentinels know the master by another name, one of several addresses is no Sentinel, or --redis takes a
// Sentinel for Redis.
func TestDiagnoseSentinels(t *testing.T) {
	t.Parallel()
	url := redistest.StartSentinel(t).URL()
	askSentinels(t, url)
	wrong := strings.Replace(url, "/mymaster", "/othermaster", 1)
	askSentinels(t, wrong, diagnosis.Finding{Level: diagnosis.Problem, Found: `the Sentinels know no master "othermaster"`, Fix: "correct the name of the master at the end of --redis"})
	require.Contains(t, only(t, doctor(t, wrong).Diagnose(t.Context())).Fix, "the name of the master, in --redis")

	address := onPort(t)
	askSentinels(t, strings.Replace(url, "/mymaster", ","+address+"/mymaster", 1), diagnosis.Finding{Level: diagnosis.Warning, Found: address + " is no Sentinel: ", Fix: "give the addresses of the Sentinels"})

	hosts, _, _ := strings.Cut(strings.TrimPrefix(url, "redis-sentinel://"), "/")
	host, _, _ := strings.Cut(hosts, ",")
	f := only(t, doctor(t, "redis://"+host).Diagnose(t.Context()))
	require.Equal(t, "this is a Sentinel, which holds no boards", f.Found)
	require.Contains(t, f.Fix, "redis-sentinel://")
	require.Contains(t, only(t, doctor(t, "redis-cluster://"+host).Diagnose(t.Context())).Found, "is no node of a cluster: ")
}

// redis-cluster:// needs a node of a cluster, and a cluster needs masters.
func TestDiagnoseNoCluster(t *testing.T) {
	t.Parallel()
	f := only(t, doctor(t, "redis-cluster://"+onPort(t)).Diagnose(t.Context()))
	require.Contains(t, f.Found, "is no node of a cluster: ERR This instance has cluster support disabled")
	require.Contains(t, f.Fix, "use redis:// in --redis, or rediss:// with TLS")

	node, _ := redistest.StartNode(t)
	all := doctor(t, "redis-cluster"+strings.TrimPrefix(node.URL(), "redis")).Diagnose(t.Context())
	require.Len(t, all, 1)
	f = of(t, all, diagnosis.Cluster, diagnosis.Problem)
	require.Contains(t, f.Found, "no master holds 16384 of the 16384 slots")
	require.Contains(t, f.Fix, "redis-cli --cluster create")
}

// A user who may not enter the database has no connection. The refusal is no answer to the checks.
func TestDiagnoseRefusedConnection(t *testing.T) {
	t.Parallel()
	r := redistest.Start(t)
	s := doctor(t, r.AppURL(append(documentedRights, "-select")...)+"?db=3")
	require.Contains(t, only(t, s.Diagnose(t.Context())).Found, "refuses this node: NOPERM")
	_, err := s.DiagnoseSettings(context.Background())
	require.ErrorIs(t, err, ranking.ErrUnavailable)
}
