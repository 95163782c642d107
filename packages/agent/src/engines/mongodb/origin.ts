import { MongoServerError, ObjectId, type Document, type MongoClient } from "mongodb";
import type { Origin } from "../engine.ts";
import type { Connection } from "./connection.ts";

/**
 * The id of the replica set or of the sharded cluster, which their members share. If the user may
 * not read a set's id, its name; for a server that belongs to neither, its address.
 */
export async function originOf(client: MongoClient, { uri, database }: Connection): Promise<Origin> {
  const of = database === null ? {} : { database };
  const address = /^mongodb(?:\+srv)?:\/\/(?:[^@/]*@)?([^/?#]*)/.exec(uri)?.[1] ?? "";
  // A socket of this host.
  const host = /^(?:%2f|\/)/i.test(address) ? null : address;
  const hello = await client.db("admin").command({ hello: 1 });
  const set = hello["setName"] as unknown;
  if (typeof set === "string") {
    const found = await allowed(client.db("local").collection("system.replset").findOne({}));
    const id = (found?.["settings"] as Document | undefined)?.["replicaSetId"] as unknown;
    return {
      identity:
        id instanceof ObjectId ? { replica_set_id: id.toHexString(), ...of } : { replica_set: set, ...of },
      host,
    };
  }
  if (hello["msg"] === "isdbgrid") {
    const found = await allowed(client.db("config").collection("version").findOne({}));
    const id = found?.["clusterId"] as unknown;
    if (id instanceof ObjectId) return { identity: { cluster_id: id.toHexString(), ...of }, host };
  }
  return { identity: { host: host ?? "local", ...of }, host };
}

/** Null if the user may not read it. */
async function allowed(reading: Promise<Document | null>): Promise<Document | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof MongoServerError) return null;
    throw error;
  }
}
