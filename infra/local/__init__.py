"""The whole product on one machine: embedded Postgres, emulated AWS, our own API gateway."""
