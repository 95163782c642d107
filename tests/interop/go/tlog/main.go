// tlog puts golang.org/x/mod/sumdb/note and tlog behind JSON on standard input and output.
//
//	tlog check   opens notes and checks proofs that others made; prints one verdict each
//	tlog make    makes a tree, its proofs and a signed checkpoint for others to check
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Hashes travel in base64, as tlog.Hash prints and parses them.
type inclusion struct {
	Index int64       `json:"index"`
	Size  int64       `json:"size"`
	Root  tlog.Hash   `json:"root"`
	Leaf  []byte      `json:"leaf"`
	Proof []tlog.Hash `json:"proof"`
}

type consistency struct {
	From     int64       `json:"from"`
	To       int64       `json:"to"`
	FromRoot tlog.Hash   `json:"from_root"`
	ToRoot   tlog.Hash   `json:"to_root"`
	Proof    []tlog.Hash `json:"proof"`
}

type signedNote struct {
	VerifierKey string `json:"verifier_key"`
	Note        string `json:"note"`
}

type document struct {
	Notes       []signedNote  `json:"notes"`
	Inclusion   []inclusion   `json:"inclusion"`
	Consistency []consistency `json:"consistency"`
}

// verdicts holds an error's text, or nothing where a check held, in the order asked.
type verdicts struct {
	Notes       []string `json:"notes"`
	Texts       []string `json:"texts"`
	Inclusion   []string `json:"inclusion"`
	Consistency []string `json:"consistency"`
}

func main() {
	switch strings.Join(os.Args[1:], " ") {
	case "check":
		var asked document
		must(json.NewDecoder(os.Stdin).Decode(&asked))
		must(json.NewEncoder(os.Stdout).Encode(checkAll(asked)))
	case "make":
		var wanted struct {
			Name   string   `json:"name"`
			Leaves [][]byte `json:"leaves"`
		}
		must(json.NewDecoder(os.Stdin).Decode(&wanted))
		must(json.NewEncoder(os.Stdout).Encode(makeAll(wanted.Name, wanted.Leaves)))
	default:
		must(fmt.Errorf("usage: tlog check|make"))
	}
}

func checkAll(asked document) verdicts {
	var answer verdicts
	for _, each := range asked.Notes {
		text, err := open(each)
		answer.Notes = append(answer.Notes, message(err))
		answer.Texts = append(answer.Texts, text)
	}
	for _, each := range asked.Inclusion {
		err := tlog.CheckRecord(each.Proof, each.Size, each.Root, each.Index, tlog.RecordHash(each.Leaf))
		answer.Inclusion = append(answer.Inclusion, message(err))
	}
	for _, each := range asked.Consistency {
		err := tlog.CheckTree(each.Proof, each.To, each.ToRoot, each.From, each.FromRoot)
		answer.Consistency = append(answer.Consistency, message(err))
	}
	return answer
}

func open(signed signedNote) (string, error) {
	verifier, err := note.NewVerifier(signed.VerifierKey)
	if err != nil {
		return "", err
	}
	opened, err := note.Open([]byte(signed.Note), note.VerifierList(verifier))
	if err != nil {
		return "", err
	}
	return opened.Text, nil
}

func makeAll(name string, leaves [][]byte) document {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var hashes []tlog.Hash
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	roots := []tlog.Hash{{}}
	var made document
	for i, leaf := range leaves {
		hashes, err := tlog.StoredHashes(int64(i), leaf, reader)
		must(err)
		stored = append(stored, hashes...)
		root, err := tlog.TreeHash(int64(i+1), reader)
		must(err)
		roots = append(roots, root)
	}
	size := int64(len(leaves))
	for i := int64(0); i < size; i++ {
		record, err := tlog.ProveRecord(size, i, reader)
		must(err)
		made.Inclusion = append(made.Inclusion, inclusion{i, size, roots[size], leaves[i], record})
		tree, err := tlog.ProveTree(size, i+1, reader)
		must(err)
		made.Consistency = append(made.Consistency, consistency{i + 1, size, roots[i+1], roots[size], tree})
	}
	secret, public, err := note.GenerateKey(rand.Reader, name)
	must(err)
	signer, err := note.NewSigner(secret)
	must(err)
	text := fmt.Sprintf("%s\n%d\n%s\n", name, size, roots[size])
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	must(err)
	made.Notes = []signedNote{{public, string(signed)}}
	return made
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
