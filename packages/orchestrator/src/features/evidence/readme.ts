import { PACK_FILES, type PackHeader, plural } from "@attestore/proof";

/** README.txt: the content of a pack, and how to check it, also without our programs. */
export function readme({ org_id, period, exported_at, log }: PackHeader): string {
  return `Evidence of backups and restore tests
=====================================

Organisation   ${org_id}
Period         ${period.from} to ${period.to} (not included)
Made           ${exported_at}
Log            ${log.origin}, ${plural(log.tree_size, "entry", "entries")}

Begin with ${PACK_FILES.index}: the summary as a page, to read and to print. What is NOT proven is
listed at its end, and in ${PACK_FILES.summary} under not_proven.


What is in here
---------------

${PACK_FILES.index}              the summary as a page
${PACK_FILES.summary}            the same numbers for programs; they follow from the files below
${PACK_FILES.controls}           which files speak to which control of SOC 2, ISO 27001, NIS2, DORA, HIPAA
${PACK_FILES.policy}             schedules, retention and objectives as they were when the pack was made
runs/                   every time that a schedule named, and whether it passed, failed or was missed;
                        one JSON object a line
receipts/               what agents signed: each backup and each restore test, with its proof
predecessors/           the leaves of receipts and signed events from before that an agent's first one here follows on
events/                 other entries of the log: missed runs, failures, agents that came and went,
                        changes of the policy, each with its proof
keys/                   the agents' public keys and since when until when they count (agents.json), also
                        those that another one took the place of, and the log's key (log.vkey).
                        COMPARE THEM with the hosts': a key in here is a claim
log/checkpoint          the signed head of the log that all proofs lead to
log/tile/entries/       every entry of the log in the range, without what it covers (C2SP tlog-tiles)
log/range.json          what ties that range to the checkpoint: nothing in it was left out
${PACK_FILES.manifest}           SHA-256 of each file
${PACK_FILES.manifestNote}           the log's signature over that


How to check it
---------------

With the verifier, offline. Get the log's key from a host that has an agent (keys/log.vkey in the
agent's directory), and each agent's key from its own host (keys/agent.pub), not from this pack:

    attestore-verify PACK.zip --log-key log.vkey --key agent-1.pub --key agent-2.pub

Many keys fit into one file (--keys FILE), which the organisation's owner may have signed (--owner-key).
Without the agents' keys the answer is CANNOT TELL: whoever runs the service could have made those in
here. It exits with 0 when everything holds, 1 when something is false, 2 when it cannot tell.


With nothing of ours, in the unpacked directory:

1. The files are those of the manifest.

    jq -r '.files[] | "\\(.sha256)  \\(.path)"' manifest.json | sha256sum --check --quiet

2. The log's key signed the manifest. manifest.note is a signed note (c2sp.org/signed-note): the lines
   before the empty line are what is signed, the third is the manifest's SHA-256. The key in log.vkey is
   base64 of a type byte and the 32 bytes of an Ed25519 key; in the signature line four bytes of key id
   come first.

    sha256sum manifest.json; sed -n 3p manifest.note
    sed '/^$/,$d' manifest.note > note.text
    tail -n 1 manifest.note | cut -d ' ' -f 3 | base64 -d | tail -c 64 > note.signature
    { printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000'; cut -d + -f 3- log.vkey | base64 -d | tail -c 32; } > log.der
    openssl pkeyutl -verify -pubin -keyform DER -inkey log.der -rawin -in note.text -sigfile note.signature

   (log.vkey here is the one from a host.)

3. A receipt was signed by its agent's key, and is in the log: each file of receipts/ is a bundle.
   Steps 1, 2 and 4 of "With nothing of ours" in docs/verify.md check it with openssl, jq and Go's own
   sumdb libraries.

4. The log's checkpoint is the one that agents hold: \`attestore status\` on a host. An agent that was shown
   another log says so, and stops.
`;
}
