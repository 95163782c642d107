import { expect, it } from "vitest";
import { signS3Headers } from "./signature.ts";

/**
 * The examples of the Amazon S3 API reference, "Signature Calculations for the Authorization
 * Header".
 */
const CREDENTIALS = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const COMMON = { region: "us-east-1", signedAt: new Date("2013-05-24T00:00:00Z") };
const HOST = "https://examplebucket.s3.amazonaws.com";

it.each([
  [
    "GET an object's range",
    { method: "GET", url: new URL(`${HOST}/test.txt`), headers: { range: "bytes=0-9" }, ...COMMON },
    EMPTY,
    "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  ],
  [
    "PUT an object",
    {
      ...COMMON,
      method: "PUT",
      url: new URL(`${HOST}/test%24file.text`),
      headers: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
    },
    "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  ],
  [
    "GET a sub-resource",
    { method: "GET", url: new URL(`${HOST}/?lifecycle`), ...COMMON },
    EMPTY,
    "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  ],
  [
    "list objects",
    { method: "GET", url: new URL(`${HOST}/?max-keys=2&prefix=J`), ...COMMON },
    EMPTY,
    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  ],
])("signs headers as the published example: %s", async (_, request, payloadSha256, signature) => {
  const { authorization } = await signS3Headers(request, payloadSha256, CREDENTIALS);
  expect(authorization).toMatch(new RegExp(`Signature=${signature}$`));
});
