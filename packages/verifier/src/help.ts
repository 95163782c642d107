export const HELP = `attestore-verify: checks that a receipt is true and in the log

Usage: attestore-verify RECEIPT... --key FILE [options]
       attestore-verify PACK.zip... --log-key VKEY --key FILE... [--expect-passed] [--json]

RECEIPT is a file with a receipt's bundle (the receipt and its proof) or its bare DSSE envelope,
or - for standard input. With --prove it can also be a receipt's id (rcpt_...). Without --prove
nothing is sent over the network. PACK.zip is an evidence pack of an organisation: everything in it
is checked, and also that nothing was left out. Several packs of one organisation are also checked
as one chain.

Each answer says what it is based on: whose keys, whose clock, which witnesses.

Keys that you trust:
  --key FILE         an agent's public key: PEM, an OpenSSH line, or base64; may be given several
                     times. A receipt is true only if you give the key that signed it, and a pack
                     only if you give every key that signed in it: included keys are only claims
  --keys FILE        a file of agents' keys, one per line (an OpenSSH line or base64, then, if
                     known, the agent's id and since=YYYY-MM-DD); # begins a comment
  --owner-key FILE   --keys counts only if this key signed it: ssh-keygen -Y sign -n attestore-keys
                     -f OWNER LIST makes LIST.sig, which must be next to LIST
  --rotation FILE    a rotation of the agent's signing key, from keys/rotations/ on its host; may be
                     given several times. Starting from --key, each key that the rotations lead to
                     is trusted for runs that ended before it was replaced

The log and its witnesses:
  --log-key VKEY     the log's verifier key (name+hash+base64), or a file that contains it
  --witness-key VKEY a witness's verifier key, or a file that contains it; may be given several
                     times. Each of them must have cosigned the bundle's or pack's checkpoint
  --witnesses N      require only N of them
  --require-log      "true" requires the log's proof (the default for a bundle)
  --no-require-log   check signature and statement only

What else to check:
  --ciphertext FILE  the backup's encrypted file; its SHA-256 is compared with the receipt
  --expect-passed    also require at least one restore test, and that every one passed; for a
                     pack, that none failed or was missed

Ask the service:
  --prove URL        ask this service for an id's bundle, or whether the log still contains a given
                     bundle and has only grown since. The answers are verified here. The
                     token comes from the environment variable ATTESTORE_TOKEN
  --ca FILE          PEM file of the certificate authority to trust for --prove

Output:
  --quiet            print nothing if the exit code is 0, unless a true receipt, also one in a
                     pack, says that a restore test failed
  --verbose          also say on standard error what was read, with its SHA-256, and requested
  --json             one JSON object on standard output
  -h, --help
  --version

Exit codes:
  0  every receipt, or pack, is true
  1  at least one is false, or --expect-passed is not met
  2  cannot tell: something was missing or unreadable, and nothing was found false
With several receipts, the worst result decides.

A true receipt can say that a restore test FAILED. This is printed, and the exit code is 0, because
the receipt is true. With --expect-passed the exit code is 1.

Examples:
  attestore-verify rcpt.json --key agent.pub --log-key log.vkey
  attestore-verify receipts/*.json --key agent.pub --log-key log.vkey --expect-passed
  attestore-verify rcpt.json --key agent.pub --log-key log.vkey --ciphertext backup.age --json
  attestore-verify evidence-org_01....zip --log-key log.vkey --keys hosts.keys --owner-key owner.pub
  attestore-verify rcpt_01jd... --prove https://backup.example.com --ca ca.pem \\
    --key agent.pub --log-key log.vkey

Colours are used on a terminal, unless NO_COLOR is set.

Documentation: docs/verify.md in the source; packages have docs/ in /usr/share/doc/attestore
`;
