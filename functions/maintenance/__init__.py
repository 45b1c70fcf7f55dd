"""The broom: events that were not sent yet go out each minute, what is past its time goes daily."""
