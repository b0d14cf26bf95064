package test

import (
	"os"
	"testing"

	"tas-service/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }
