-- A state.db of schema version 1, as the first version made it.
CREATE TABLE object (  kind TEXT NOT NULL,  name TEXT NOT NULL,  body TEXT NOT NULL,  created INTEGER NOT NULL,  changed INTEGER NOT NULL,  PRIMARY KEY (kind, name));
PRAGMA application_id = 0x4d727374;
INSERT INTO object VALUES ('rule', '||tracker.example^', '"||tracker.example^"', 1700000000, 1700000000);
INSERT INTO object VALUES ('list', 'ads', '{"url": "https://lists.example/ads.txt"}', 1700000001, 1700000002);
PRAGMA user_version = 1;
