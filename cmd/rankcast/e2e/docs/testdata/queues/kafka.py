"""Stands in for the package kafka-python."""

from types import SimpleNamespace

import standin


class KafkaConsumer:
    def __init__(self, topic, *, bootstrap_servers, group_id, enable_auto_commit, auto_offset_reset):
        if enable_auto_commit:
            raise ValueError("a message that is committed before its answer may be lost")
        self.topic, self.delivered, self.committed = topic, 0, []
        standin.require_all(self.committed)

    def __iter__(self):
        for self.delivered, body in standin.messages("kafka"):
            yield SimpleNamespace(topic=self.topic, partition=0, offset=self.delivered, value=body.encode())

    def commit(self):
        self.committed.append(self.delivered)
