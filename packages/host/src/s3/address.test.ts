import { expect, it } from "vitest";
import { amazonEndpoint, s3Address } from "./address.ts";

const AMAZON = { endpoint: amazonEndpoint("eu-central-1"), bucket: "backups", pathStyle: false };
const OTHER = { endpoint: "http://minio.lan:9000/", bucket: "backups", pathStyle: true };

it.each([
  ["an object at Amazon", AMAZON, "a/b.age", "https://backups.s3.eu-central-1.amazonaws.com/a/b.age"],
  ["the bucket at Amazon", AMAZON, "", "https://backups.s3.eu-central-1.amazonaws.com/"],
  ["an object elsewhere", OTHER, "a/b.age", "http://minio.lan:9000/backups/a/b.age"],
  ["the bucket elsewhere", OTHER, "", "http://minio.lan:9000/backups/"],
  // What a URL would leave as it is, but a signature encodes, or would take for its query.
  [
    "signs in a key",
    OTHER,
    "it's (1)*!/100 %?#+ü",
    "http://minio.lan:9000/backups/it%27s%20%281%29%2A%21/100%20%25%3F%23%2B%C3%BC",
  ],
])("%s", (_, address, key, url) => {
  expect(s3Address(address, key).href).toBe(url);
});

it("has the query's parameters, encoded", () => {
  expect(s3Address(OTHER, "", { "list-type": "2", prefix: "a b/" }).href).toBe(
    "http://minio.lan:9000/backups/?list-type=2&prefix=a+b%2F",
  );
});
