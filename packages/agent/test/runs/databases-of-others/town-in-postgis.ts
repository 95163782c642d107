/** A town as people keep one in PostGIS: columns, indexes and constraints of most of its kinds. */
export const TOWN = `
  create extension postgis;
  create extension postgis_topology;
  create extension fuzzystrmatch;
  create extension postgis_tiger_geocoder;
  create extension postgis_raster;
  create extension postgis_sfcgal;
  create extension address_standardizer;
  create extension address_standardizer_data_us;
  -- A grid of the town's own.
  insert into spatial_ref_sys (srid, auth_name, auth_srid, srtext, proj4text)
    select 990001, 'town', 1, srtext, replace(proj4text, '+zone=33', '+zone=33 +x_0=400000') from spatial_ref_sys where srid = 32633;

  create table places (
    id int generated always as identity primary key,
    name text not null,
    at geometry(Point, 4326) not null,
    area geography(Polygon),
    track geometry(LineStringZM, 990001),
    shape geometry check (st_srid(shape) in (0, 4326)),
    box box2d,
    box3 box3d,
    parts geometry(MultiPolygon, 4326)[],
    constraint valid check (st_isvalid(at) and st_x(at) between -180 and 180)
  );
  insert into places (name, at, area, track, shape, box, box3, parts)
    select 'place ' || i, st_setsrid(st_makepoint(i * 0.3 - 60 + 1e-13, i * 0.1 - 20), 4326),
      case when i % 3 > 0 then st_buffer(st_setsrid(st_makepoint(i * 0.3 - 60, i * 0.1 - 20), 4326)::geography, 1000)::geography(Polygon) end,
      st_setsrid(st_makeline(st_makepoint(i, 0, 1, 2), st_makepoint(i, 'infinity', 'nan', 1e-300)), 990001),
      (array['point empty', 'srid=4326;circularstring(0 0, 1 1, 2 0)', 'tin(((0 0, 1 0, 0 1, 0 0)))', 'geometrycollection(point(1 2), linestring(0 0, 1 1))',
        'srid=4326;polyhedralsurface(((0 0 0, 0 1 0, 1 1 0, 0 0 0)))', 'multicurve((0 0, 5 5), compoundcurve((0 0, 1 1), circularstring(1 1, 2 2, 3 1)))'])[i % 6 + 1]::geometry,
      st_makebox2d(st_makepoint(i, i), st_makepoint(i + 1, i + 1)), st_3dmakebox(st_makepoint(i, i, i), st_makepoint(i + 1, i + 1, i + 1)),
      array[st_multi(st_makeenvelope(i % 90, 0, i % 90 + 1, 1, 4326))]
    from generate_series(1, 300) i;
  create index places_at on places using gist (at);
  create index places_area on places using gist (area) where area is not null;
  create index places_track on places using gist (track gist_geometry_ops_nd);
  create index places_grid on places using gist (st_transform(at, 990001));
  create index places_quads on places using spgist (at);
  create index places_blocks on places using brin (at) with (pages_per_range = 4);
  create index places_order on places (at);
  cluster places using places_at;
  create statistics places_together on name, at from places;

  create view layers as select f_table_name, f_geometry_column, srid, type from geometry_columns where f_table_schema = 'public'
    union all select f_table_name, f_geography_column, srid, type from geography_columns;
  create view near as select a.id, b.id as other, st_distance(a.at::geography, b.at::geography) as metres
    from places a join places b on a.at && st_expand(b.at, 0.5) and a.id < b.id;
  create function inside(geometry) returns setof places stable language sql as 'select * from public.places where public.st_contains($1, at)';
  create aggregate joined(geometry) (sfunc = st_union, stype = geometry);
  create domain spot as geometry(Point, 4326) check (st_y(value) between -90 and 90);
  create type visit as (spot geometry(Point, 4326), at timestamptz);
  create table visits (id int primary key, place int references places, spot spot, visit visit, exclude using gist (spot with &&));
  insert into visits select id, id, at, row(at, '2026-01-01 UTC')::visit from places;
  create table regions (id int, shape geometry(Polygon, 3857) not null) partition by range (id);
  create table regions_low partition of regions for values from (0) to (50);
  create table regions_high partition of regions for values from (50) to (100);
  create index on regions using gist (shape);
  insert into regions select i, st_makeenvelope(i, 0, i + 1, 1, 3857) from generate_series(0, 99) i;
  create table heights (rid serial primary key, rast raster);
  insert into heights (rast) select st_addband(st_makeemptyraster(32, 32, i * 32, 0, 1, -1, 0, 0, 990001), '32BF', i / 7.0, -9999) from generate_series(1, 20) i;
  select addrasterconstraints('heights'::name, 'rast'::name);
  create index heights_extents on heights using gist (st_convexhull(rast));
  create table solids (id int primary key, shape geometry(PolyhedralSurfaceZ), volume float8);
  insert into solids select i, shape, st_volume(shape) from generate_series(1, 5) i, st_makesolid(st_extrude(st_makeenvelope(0, 0, i, 1), 0, 0, 2)) shape;
  comment on column places.at is 'where it is';
  comment on index places_grid is 'in the town''s own grid';

  select topology.createtopology('streets', 990001, 0.01);
  create table crossings (id int primary key, name text);
  select topology.addtopogeometrycolumn('streets', 'public', 'crossings', 'shape', 'LINE');
  insert into crossings (id, name, shape)
    select i, 'crossing ' || i, topology.totopogeom(st_setsrid(st_makeline(st_makepoint(i, 0), st_makepoint(i, 10)), 990001), 'streets', 1, 0.01) from generate_series(1, 20) i;
`;
