// check-bundle tells whether a receipt is in the log, with Go's own golang.org/x/mod/sumdb/note and tlog
// and nothing of Attestore's. It does not check who signed the receipt: see docs/verify.md.
//
// Usage: go run check-bundle.go BUNDLE.json VERIFIER-KEY
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type bundle struct {
	Envelope struct {
		Payload    string
		Signatures []struct{ Sig string }
	}
	Leaf           map[string]interface{}
	InclusionProof struct {
		LogIndex int64 `json:"log_index"`
		Hashes   []string
	} `json:"inclusion_proof"`
	Checkpoint string
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: check-bundle BUNDLE.json VERIFIER-KEY")
	}
	data, err := os.ReadFile(os.Args[1])
	check(err)
	var b bundle
	check(json.Unmarshal(data, &b))
	if len(b.Envelope.Signatures) != 1 {
		fail("not exactly one signature")
	}

	// The checkpoint: three lines, signed by the log.
	verifier, err := note.NewVerifier(os.Args[2])
	check(err)
	opened, err := note.Open([]byte(b.Checkpoint), note.VerifierList(verifier))
	check(err)
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		fail("the checkpoint is not three lines of " + verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	root, err := tlog.ParseHash(lines[2])
	check(err)

	// The leaf: it speaks of this envelope, and is in the tree of that checkpoint.
	payload, err := base64.StdEncoding.DecodeString(b.Envelope.Payload)
	check(err)
	if digest := sha256.Sum256(payload); b.Leaf["body_sha256"] != hex.EncodeToString(digest[:]) {
		fail("the leaf is about another payload")
	}
	if b.Leaf["signature"] != b.Envelope.Signatures[0].Sig {
		fail("the leaf is about another signature")
	}
	if org, _ := b.Leaf["org_id"].(string); !strings.HasSuffix(lines[0], "/"+org) {
		fail("the leaf is of another organisation than the log")
	}
	var proof tlog.RecordProof
	for _, text := range b.InclusionProof.Hashes {
		var hash tlog.Hash
		if n, err := hex.Decode(hash[:], []byte(text)); err != nil || n != tlog.HashSize {
			fail("malformed hash " + text)
		}
		proof = append(proof, hash)
	}
	check(tlog.CheckRecord(proof, size, root, b.InclusionProof.LogIndex, tlog.RecordHash(canonical(b.Leaf))))
	fmt.Printf("leaf %d of %d: in the log of %s\n", b.InclusionProof.LogIndex, size, lines[0])
}

// canonical gives the leaf's RFC 8785 bytes: its members are ASCII text and one small integer, for which Go's sorted,
// compact JSON without HTML escapes is the same.
func canonical(leaf map[string]interface{}) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(leaf))
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
