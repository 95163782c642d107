import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTestPlace, type TestPlace } from "../scratch.ts";
import { type SourceMariadb, startSourceMariadb } from "../source-mariadb.ts";
import { runPhp, unpackedPrograms } from "./programs.ts";
import { everythingCompared } from "./whole-comparison.ts";

let place: TestPlace;
let mariadb: SourceMariadb;

beforeAll(async () => {
  place = await makeTestPlace();
  mariadb = await startSourceMariadb(place.dir);
});
afterAll(async () => {
  await mariadb?.close();
  await place?.remove();
});

/** What Debian's own configuration and the page of WordPress's installer do. */
const INSTALL = `<?php
  [, $wordpress, $socket] = $argv;
  $_SERVER += ['HTTP_HOST' => 'blog.example.org', 'REQUEST_URI' => '/', 'SERVER_PROTOCOL' => 'HTTP/1.1'];
  define('ABSPATH', "$wordpress/");
  define('WP_INSTALLING', true);
  define('WP_SITEURL', 'https://blog.example.org');
  define('DB_NAME', 'blog'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', "localhost:$socket");
  define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
  $table_prefix = 'wp_';
  // It would send a mail.
  function wp_new_blog_notification() {}
  require ABSPATH . 'wp-settings.php';
  require ABSPATH . 'wp-admin/includes/upgrade.php';
  wp_install('A blog', 'ada', 'ada@example.org', true, '', 'correct horse battery');
  foreach (range(1, 20) as $n) {
    $post = wp_insert_post(['post_title' => "Größe $n 🚀", 'post_content' => str_repeat("It's <b>$n</b>.\\n", $n), 'post_status' => 'publish', 'post_author' => 1, 'tags_input' => ["t$n"]], true);
    if (is_wp_error($post)) throw new Exception($post->get_error_message());
    add_post_meta($post, 'price', ['amount' => $n / 7, 'bytes' => "\\0\\x1f"]);
    wp_insert_comment(['comment_post_ID' => $post, 'comment_content' => "No. $n", 'comment_author' => 'Bo']);
  }
`;

test("WordPress, as its own installer makes it, comes back on MariaDB with every table's rows and every object compared", async () => {
  mariadb.sql("create database blog");
  const [programs, script] = [unpackedPrograms(), join(place.dir, "install.php")];
  writeFileSync(script, INSTALL);
  runPhp(programs, place.dir, [script, join(programs, "usr/share/wordpress"), mariadb.socket]);
  expect(Number(mariadb.sql("select count(*) from blog.wp_posts where post_title like '%🚀'"))).toBe(20);

  const compared = await everythingCompared(place, { ...mariadb.source, databases: ["blog"] });
  expect(compared.tables).toBe(12);
  expect(compared.objects).toBeGreaterThan(50);
});
