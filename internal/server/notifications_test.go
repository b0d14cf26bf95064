package server_test

import (
	"strings"
	"testing"

	"tas-service/internal/server"
)

// TestNotificationSettings says at the start what is wrong with them, and works without any.
func TestNotificationSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  map[string]string
		says string
	}{
		"none":        {nil, ""},
		"mail":        {map[string]string{"TAS_SMTP_HOST": "smtp.example.com", "TAS_SMTP_FROM": "TAS <tas@example.com>", "TAS_SMTP_PORT": "2525", "TAS_SMTP_USER": "u", "TAS_SMTP_PASSWORD": "s3cret", "TAS_SMTP_SECURITY": "tls"}, ""},
		"no host":     {map[string]string{"TAS_SMTP_FROM": "tas@example.com"}, "TAS_SMTP_HOST is left out"},
		"no sender":   {map[string]string{"TAS_SMTP_HOST": "h"}, "TAS_SMTP_FROM is left out"},
		"odd sender":  {map[string]string{"TAS_SMTP_HOST": "h", "TAS_SMTP_FROM": "x"}, "TAS_SMTP_FROM is no e-mail address"},
		"no user":     {map[string]string{"TAS_SMTP_HOST": "h", "TAS_SMTP_FROM": "a@b.example", "TAS_SMTP_PASSWORD": "s3cret"}, "belong together"},
		"port":        {map[string]string{"TAS_SMTP_HOST": "h", "TAS_SMTP_FROM": "a@b.example", "TAS_SMTP_PORT": "70000"}, "TAS_SMTP_PORT"},
		"security":    {map[string]string{"TAS_SMTP_HOST": "h", "TAS_SMTP_FROM": "a@b.example", "TAS_SMTP_SECURITY": "ssl"}, "starttls, tls or none"},
		"private":     {map[string]string{"TAS_WEBHOOKS_PRIVATE": "true"}, ""},
		"odd private": {map[string]string{"TAS_WEBHOOKS_PRIVATE": "1"}, "true or false"},
	} {
		cfg, err := server.FromEnv(func(k string) string { return c.env[k] })
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s: %v", name, err)
		}
		if cfg.WebhooksPrivate != (name == "private") || name == "mail" && (cfg.SMTP.Port != 2525 || cfg.SMTP.Password != "s3cret") {
			t.Errorf("%s: %+v", name, cfg)
		}
	}
}
