package web

import "testing"

// TestGist shortens errors as Playwright words them.
func TestGist(t *testing.T) {
	for message, want := range map[string]string{
		"Error: expect(locator).toHaveText(expected) failed\n\nLocator:  locator('#tea')\nExpected: \"4.50\"\nReceived: \"5.40\"\nTimeout:  1000ms\n":       `Error: expect(locator).toHaveText(expected) failed: expected "4.50", received "5.40"`,
		"Error: \x1b[2mexpect(\x1b[22mlocator).toContainText() failed\nExpected substring: \x1b[32m\"a\"\x1b[39m\nReceived string:    \x1b[31m\"\"\x1b[39m": `Error: expect(locator).toContainText() failed: expected "a", received ""`,
		"Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 1\nReceived: 0":                                                          `Error: expect(received).toBe(expected) // Object.is equality: expected 1, received 0`,
		"Error: expect(locator).toBeVisible() failed\n\nLocator: getByText('x')\nExpected: visible\nTimeout: 5000ms\nError: element(s) not found":           "Error: expect(locator).toBeVisible() failed",
		"TimeoutError: page.goto: Timeout 30000ms exceeded.\nCall log:\n":                                                                                   "TimeoutError: page.goto: Timeout 30000ms exceeded.",
		"": "",
	} {
		if got := gist(message, 220); got != want {
			t.Errorf("%q\n got %q\nwant %q", message, got, want)
		}
	}
}
