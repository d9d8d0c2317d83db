package admin

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	sessionCookie = "almanac_session"
	sessionLength = 12 * time.Hour
)

// sessions makes and reads the sessions of browsers: NAME.END.MAC, where NAME and MAC
// are base64url and END is in seconds since 1970. Nothing is stored, so before its end
// a session is only ended by another token.
type sessions struct {
	key []byte
	now func() time.Time
}

// newSessions derives the key from the token, so that sessions survive a restart.
// Without a token the key is new at every start.
func newSessions(token string, now func() time.Time) (sessions, error) {
	key := make([]byte, sha256.Size)
	if token == "" {
		_, err := rand.Read(key)
		return sessions{key, now}, err
	}
	key, err := hkdf.Key(sha256.New, []byte(token), nil, "almanac admin session", sha256.Size)
	return sessions{key, now}, err
}

// begin returns a new session.
func (s sessions) begin(name string) string {
	payload := base64.RawURLEncoding.EncodeToString([]byte(name)) + "." +
		strconv.FormatInt(s.now().Add(sessionLength).Unix(), 10)
	return payload + "." + s.mac(payload)
}

// of returns who has the session of a request; false without a valid one.
func (s sessions) of(r *http.Request) (name string, ok bool) {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return "", false
	}
	at := strings.LastIndexByte(c.Value, '.')
	if at < 0 || !hmac.Equal([]byte(s.mac(c.Value[:at])), []byte(c.Value[at+1:])) {
		return "", false
	}
	who, until, _ := strings.Cut(c.Value[:at], ".")
	end, err := strconv.ParseInt(until, 10, 64)
	text, textErr := base64.RawURLEncoding.DecodeString(who)
	if err != nil || textErr != nil || s.now().Unix() >= end {
		return "", false
	}
	return string(text), true
}

func (s sessions) mac(payload string) string {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(payload))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
