export const HELP = `attestore-verify: is a receipt true, and is it in the log?

Usage: attestore-verify RECEIPT... --key FILE [options]
       attestore-verify PACK.zip... --log-key VKEY --key FILE... [--expect-passed] [--json]

RECEIPT is a file with a receipt's bundle (the receipt and its proof) or its bare DSSE envelope,
or - for standard input; with --prove also a receipt's id (rcpt_...). Without --prove nothing is
sent anywhere. PACK.zip is an evidence pack of an organisation: all that is in it is checked, and
that nothing is left out of it. Several packs of an organisation are checked as one chain, too.

Each answer says what it rests on: whose keys, whose clock, which witnesses.

  --key FILE         an agent's public key: PEM, an OpenSSH line, or base64; may be given several
                     times. Without the key that signed it no receipt is true, and no pack without
                     each key that signed in it: keys that come with them are only claims
  --keys FILE        a file of agents' keys: one a line (an OpenSSH line or base64; then, if known,
                     the agent's id and since=YYYY-MM-DD), # begins a comment
  --owner-key FILE   --keys counts only if this key signed it: ssh-keygen -Y sign -n attestore-keys
                     -f OWNER LIST makes LIST.sig, which lies beside it
  --rotation FILE    a change of the agent's signing key, from keys/rotations/ of its host; may be
                     given several times. Receipts then count under each key that they lead to
                     from --key, by runs that ended before the key was replaced
  --log-key VKEY     the log's verifier key (name+hash+base64), or a file that holds it
  --witness-key VKEY a witness's verifier key, or a file that holds it; may be given several
                     times. Each of them has to have cosigned the bundle's or pack's checkpoint
  --witnesses N      that N of them have is enough
  --ciphertext FILE  the backup's encrypted file; its SHA-256 is compared with the receipt
  --require-log      no "true" without the log's proof (the default for a bundle)
  --no-require-log   ask about signature and statement only
  --expect-passed    require too that every restore test among the receipts passed, and that
                     there is one; of a pack, that none failed or was missed
  --prove URL        ask this service: for an id, its bundle; for a bundle, whether the log still
                     holds it and has only grown since. Its answers are verified here. The token
                     is taken from the environment variable ATTESTORE_TOKEN
  --ca FILE          PEM of the certificate authority to trust for --prove
  --json             one JSON object on standard output
  -h, --help
  --version

Exit codes:
  0  every receipt, or pack, is true
  1  one is false, or --expect-passed is not met
  2  cannot tell: something was missing or unreadable, and nothing was found false
With several receipts the worst decides.

A true receipt may say that a restore test FAILED. That is printed, and exits 0: the receipt is
true. With --expect-passed it exits 1.

Examples:
  attestore-verify rcpt.json --key agent.pub --log-key log.vkey
  attestore-verify receipts/*.json --key agent.pub --log-key log.vkey --expect-passed
  attestore-verify rcpt.json --key agent.pub --log-key log.vkey --ciphertext backup.age --json
  attestore-verify evidence-org_01....zip --log-key log.vkey --keys hosts.keys --owner-key owner.pub
  attestore-verify rcpt_01jd... --prove https://backup.example.com --ca ca.pem \\
    --key agent.pub --log-key log.vkey

Colours are used on a terminal, unless NO_COLOR is set.
`;
