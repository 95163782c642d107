-- As 0021: for filters that pick a few out of many.

-- The period of backups is of when agents made them, which the order of their ids need not follow: whoever is behind registers late.
create index backups_org_made on backups (org_id, made_at, id);

-- Nearly all messages were delivered.
create index notification_deliveries_org_status on notification_deliveries (org_id, status, id) where status <> 'delivered';
