package llmtest

import (
	"encoding/json"
	"fmt"

	"tas-service/internal/llm"
)

// Act is what a scripted model says next, given what came of its calls before.
type Act func(results []llm.Result) Say

// Script answers a conversation act by act. Which act is due is told by the conversation alone,
// so a question that is asked twice gets the same answer, whoever asks. Behind the last act it
// says that one again.
func Script(acts ...Act) func(Asked) Say {
	return func(a Asked) Say {
		turn := 0
		for _, m := range a.Messages {
			if m.Role == llm.Assistant {
				turn++
			}
		}
		say := acts[min(turn, len(acts)-1)](a.Messages[len(a.Messages)-1].Results)
		for i := range say.Calls {
			say.Calls[i].ID = fmt.Sprintf("call_%d_%d", turn, i)
		}
		if say.Usage == (llm.Usage{}) {
			say.Usage = llm.Usage{Input: 1000, Output: 100}
		}
		return say
	}
}

// Calls is an act that calls tools, whatever came before: a name and its arguments in turns.
func Calls(pairs ...any) Act {
	return func([]llm.Result) Say {
		var say Say
		for i := 0; i+1 < len(pairs); i += 2 {
			arguments, err := json.Marshal(pairs[i+1])
			if err != nil {
				panic(err) // of a test's own shapes
			}
			say.Calls = append(say.Calls, llm.Call{Name: pairs[i].(string), Arguments: arguments})
		}
		return say
	}
}
