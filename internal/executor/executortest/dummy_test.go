package executortest

import (
	"testing"

	"tas-service/internal/executor"
)

func TestDummy(t *testing.T) {
	Run(t, func(*testing.T) Place {
		return Place{Executor: NewDummy(),
			Stays: func(id string) executor.Spec { return executor.Spec{ID: id, Name: "stays"} },
			Ends:  func(id string) executor.Spec { return executor.Spec{ID: id, Name: "ends"} }}
	})
}
