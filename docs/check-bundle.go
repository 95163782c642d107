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

// object is JSON whose members are looked up by their exact names, as jq does: into a struct Go would take "Payload" for
// "payload" too, and could check another receipt than the one whose signature was checked.
type object map[string]json.RawMessage

func (from object) get(name string, into interface{}) {
	if err := json.Unmarshal(from[name], into); err != nil {
		fail(name + ": " + err.Error())
	}
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: check-bundle BUNDLE.json VERIFIER-KEY")
	}
	data, err := os.ReadFile(os.Args[1])
	check(err)
	var bundle, envelope, inclusion object
	check(json.Unmarshal(data, &bundle))
	bundle.get("envelope", &envelope)
	bundle.get("inclusion_proof", &inclusion)
	var signatures []object
	envelope.get("signatures", &signatures)
	if len(signatures) != 1 {
		fail("not exactly one signature")
	}
	var encoded, signature, checkpoint string
	envelope.get("payload", &encoded)
	signatures[0].get("sig", &signature)
	bundle.get("checkpoint", &checkpoint)
	var leaf map[string]interface{}
	bundle.get("leaf", &leaf)
	var index int64
	inclusion.get("log_index", &index)
	var hashes []string
	inclusion.get("hashes", &hashes)

	// The checkpoint: three lines, signed by the log.
	verifier, err := note.NewVerifier(os.Args[2])
	check(err)
	if first, _, _ := strings.Cut(checkpoint, "\n"); strings.HasPrefix(first, verifier.Name()+"/") {
		fail(first + " is a later generation of the log: only attestore-verify checks the events that began it")
	}
	opened, err := note.Open([]byte(checkpoint), note.VerifierList(verifier))
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
	payload := decode("payload", encoded)
	if digest := sha256.Sum256(payload); leaf["body_sha256"] != hex.EncodeToString(digest[:]) {
		fail("the leaf is about another payload")
	}
	if leaf["signature"] != base64.StdEncoding.EncodeToString(decode("signature", signature)) {
		fail("the leaf is about another signature")
	}
	if org, _ := leaf["org_id"].(string); !strings.HasSuffix(lines[0], "/"+org) {
		fail("the leaf is of another organisation than the log")
	}
	var proof tlog.RecordProof
	for _, text := range hashes {
		hash, err := hex.DecodeString(text)
		if err != nil || len(hash) != tlog.HashSize {
			fail("malformed hash " + text)
		}
		var node tlog.Hash
		copy(node[:], hash)
		proof = append(proof, node)
	}
	check(tlog.CheckRecord(proof, size, root, index, tlog.RecordHash(canonical(leaf))))
	fmt.Printf("leaf %d of %d: in the log of %s\n", index, size, lines[0])
}

// decode reads padded base64 in either alphabet of RFC 4648, never both in one text, and each value in its one spelling.
func decode(name string, text string) []byte {
	encoding := base64.StdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.URLEncoding
	}
	bytes, err := encoding.DecodeString(text)
	check(err)
	if encoding.EncodeToString(bytes) != text {
		fail("the " + name + " is not base64 in its one spelling")
	}
	return bytes
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
