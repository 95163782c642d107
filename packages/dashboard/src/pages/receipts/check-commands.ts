import type { Envelope } from "@attestore/proof";

interface Checked {
  id: string;
  predicateType: string;
  ciphertextSha256: string;
}

/** The three downloads' file names, as the service sends them. */
export const fileNames = (id: string) => ({
  bundle: `${id}.json`,
  tlogProof: `${id}.tlog-proof`,
  sigstore: `${id}.sigstore.json`,
});

/** docs/verify.md, With attestore-verify. */
export function verifierCommand({ id }: Checked): string {
  return `attestore-verify ${fileNames(id).bundle} --key agent.pub --log-key log.vkey`;
}

/** docs/verify.md, With nothing of ours, step 1. */
export function opensslCommands({ id }: Checked, signature: Envelope["signature"]): string {
  const bundle = fileNames(id).bundle;
  // ECDSA signatures are DER of about 70 bytes; Ed25519 signatures always have 64.
  const verify =
    signature.length === 64
      ? "openssl pkeyutl -verify -pubin -inkey agent.pub -rawin -in signed -sigfile signature"
      : "openssl dgst -sha256 -verify agent.pub -signature signature signed";
  return [
    `jq -j .envelope.payload ${bundle} | tr -- -_ +/ | openssl base64 -d -A > payload.json`,
    `jq -j '.envelope.signatures[0].sig' ${bundle} | tr -- -_ +/ | openssl base64 -d -A > signature`,
    `type=$(jq -r .envelope.payloadType ${bundle})`,
    `{ printf 'DSSEv1 %d %s %d ' "\${#type}" "$type" "$(wc -c < payload.json)"; cat payload.json; } > signed`,
    verify,
  ].join("\n");
}

export function cosignCommand({ id, predicateType, ciphertextSha256 }: Checked): string {
  return [
    "cosign verify-blob-attestation --key agent.pub",
    `--bundle ${fileNames(id).sigstore} --new-bundle-format --insecure-ignore-tlog`,
    `--type ${predicateType}`,
    `--digest ${ciphertextSha256} --digestAlg sha256`,
  ].join(" \\\n  ");
}
