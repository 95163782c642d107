export const HELP = `attestore-verify: is a receipt true, and is it in the log?

Usage: attestore-verify RECEIPT... --key FILE [options]

RECEIPT is a file that holds a receipt's bundle (the receipt with its proof) or its bare DSSE envelope, or - for
standard input; with --prove also a receipt's id (rcpt_...). Nothing is sent anywhere without --prove.

  --key FILE         the agent's public key: PEM, an OpenSSH line, or base64. Without it nothing is true: the key that
                     a bundle carries is only a claim
  --log-key VKEY     the log's verifier key (name+hash+base64), or a file that holds it
  --ciphertext FILE  the backup's encrypted file, compared with the receipt by SHA-256
  --require-log      do not answer "true" without the log's proof (the default for a bundle)
  --no-require-log   ask about signature and statement only
  --expect-passed    also require that every restore test among the receipts passed, and that there is one
  --prove URL        ask this service for the proof: for an id its bundle, for a bundle that the log still holds it and
                     has only grown since. What it answers is verified here. Token: environment ATTESTORE_TOKEN
  --ca FILE          the certificate authority (PEM) to trust for --prove, instead of Node's own list
  --json             one JSON object on standard output
  --help, --version

Exit codes: 0 every receipt is true; 1 one is false (or, with --expect-passed, says that a test failed);
2 cannot tell: something was missing or unreadable, and nothing was found false. With several receipts the worst decides.

A true receipt may say that a restore test FAILED: that is printed in capitals and exits 0, because the receipt is true.
Use --expect-passed to have it exit 1.

Examples:
  attestore-verify rcpt.json --key agent.pub --log-key 'backup.example.com/org_...+1a2b3c4d+AbCd...'
  attestore-verify receipts/*.json --key agent.pub --log-key log.vkey --expect-passed
  attestore-verify rcpt.json --key agent.pub --log-key log.vkey --ciphertext backup.age --json
  ATTESTORE_TOKEN=... attestore-verify rcpt_01jd... --prove https://backup.example.com --ca ca.pem \\
    --key agent.pub --log-key log.vkey

NO_COLOR is honoured.
`;
