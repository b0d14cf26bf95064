package web

import (
	"strings"

	"tas-service/internal/fault"
)

// snippets are what people paste to call the API; ADDRESS is the service's.
var snippets = map[string]string{
	"curl": `curl -X POST ADDRESS/public-api/v1/execution/suite \
  -H "Authorization: Bearer $SERVICE_API_KEY"`,
	"cli": `curl -fsSL -o tas ADDRESS/cli/tas-linux-amd64 && chmod +x tas
export SERVICE_BASE_URL=ADDRESS
./tas run --all`,
	"github": `# .github/workflows/e2e.yml; the key is the repository's secret SERVICE_API_KEY
name: End-to-end tests
on: [pull_request]
jobs:
  e2e:
    runs-on: ubuntu-latest
    steps:
      - run: |
          curl -fsSL -o tas "$SERVICE_BASE_URL/cli/tas-linux-amd64" && chmod +x tas
          ./tas run --all --trigger ci --idempotency-key "github-${{ github.run_id }}-${{ github.run_attempt }}"
        env:
          SERVICE_BASE_URL: ADDRESS
          SERVICE_API_KEY: ${{ secrets.SERVICE_API_KEY }}`,
	"gitlab": `# .gitlab-ci.yml; the key is the project's masked variable SERVICE_API_KEY
e2e:
  image: debian:stable-slim
  variables:
    SERVICE_BASE_URL: ADDRESS
    GIT_STRATEGY: none
  before_script:
    - apt-get update -qq && apt-get install -qq --no-install-recommends curl ca-certificates
    - curl -fsSL -o tas "$SERVICE_BASE_URL/cli/tas-linux-amd64" && chmod +x tas
  script:
    - ./tas run --all --trigger ci --reporter plain --reporter junit=tas-junit.xml --idempotency-key "gitlab-$CI_JOB_ID"
  artifacts:
    when: always
    reports:
      junit: tas-junit.xml`,
}

// snippet answers one, for the service at an address.
func snippet(name, address string) (string, error) {
	text, ok := snippets[name]
	if !ok {
		return "", fault.New(fault.Internal, "there is no snippet %q", name)
	}
	return strings.ReplaceAll(text, "ADDRESS", address), nil
}

// browserOf says in a few words which browser a session is in.
func browserOf(userAgent string) string {
	find := func(names ...[2]string) string {
		for _, n := range names {
			if strings.Contains(userAgent, n[0]) {
				return n[1]
			}
		}
		return ""
	}
	browser := find([2]string{"Edg/", "Edge"}, [2]string{"OPR/", "Opera"}, [2]string{"Firefox/", "Firefox"}, [2]string{"Chrome/", "Chrome"}, [2]string{"Safari/", "Safari"}, [2]string{"curl/", "curl"})
	system := find([2]string{"Android", "Android"}, [2]string{"iPhone", "iPhone"}, [2]string{"iPad", "iPad"}, [2]string{"Windows", "Windows"}, [2]string{"Mac OS X", "macOS"}, [2]string{"Linux", "Linux"})
	switch {
	case browser == "":
		return firstLine(userAgent, 40)
	case system == "":
		return browser
	}
	return browser + " on " + system
}
