package test

import (
	"os"
	"testing"

	"tas-service/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if os.Getenv("TAS_TEST_ISLAND") != "" {
		island()
	}
	os.Exit(storetest.Main(m))
}
