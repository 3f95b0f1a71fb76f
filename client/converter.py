"""The one data converter of clients, workers, the command line and the replayer.

Values are converted as pydantic does; on their way out secrets are redacted and long texts replaced by references, failures
included. Decoding leaves references as they are: who needs a body asks the artifact store.
"""

from collections.abc import Sequence

import pydantic_core
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    DefaultFailureConverter,
    FailureConverter,
    PayloadCodec,
    PayloadConverter,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
)
from temporalio.exceptions import ApplicationError

from client.protection import Protection
from domain.contracts.errors import PayloadTooLarge, TemporalityError, retryable
from domain.contracts.names import project_of
from domain.contracts.payloads import INLINE_BYTES, MAX_PAYLOAD_BYTES
from domain.contracts.redaction import Redactor

JSON = b"json/plain"
BINARY = b"binary/plain"


class ProtectingCodec(PayloadCodec, WithSerializationContext):
    """Protects payloads as they leave; `project` is that of the workflow they are for."""

    def __init__(self, protection: Protection, project: str | None = None) -> None:
        self.protection = protection
        self.project = project

    def with_context(self, context: SerializationContext) -> "ProtectingCodec":
        """The codec for payloads of the workflow that `context` names."""
        return ProtectingCodec(self.protection, _project_in(context))

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Protected payloads. Raises `PayloadTooLarge` for what stays over 1 MiB, or is long and has no place to go."""
        return [await self._encode(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """The payloads as they are."""
        return list(payloads)

    async def _encode(self, payload: Payload) -> Payload:
        encoding = payload.metadata.get("encoding", b"")
        if encoding == JSON:
            payload = await self._encode_json(payload)
        elif encoding == BINARY and len(payload.data) > INLINE_BYTES:
            raise PayloadTooLarge(f"{len(payload.data):,} bytes of binary data; put them into the artifact store")
        if len(payload.data) > MAX_PAYLOAD_BYTES:
            raise PayloadTooLarge(
                f"a payload of {len(payload.data):,} bytes and {MAX_PAYLOAD_BYTES:,} are allowed; send less at once"
            )
        return payload

    async def _encode_json(self, payload: Payload) -> Payload:
        value = pydantic_core.from_json(payload.data)
        protected = await self.protection.protect(value, self.project)
        if protected == value:
            return payload
        return Payload(metadata=payload.metadata, data=pydantic_core.to_json(protected))


def _project_in(context: SerializationContext) -> str | None:
    if isinstance(context, WorkflowSerializationContext | ActivitySerializationContext) and context.workflow_id:
        return project_of(context.workflow_id)
    return None


class ProtectingFailureConverter(DefaultFailureConverter):
    """Failures with redacted messages and traces; errors of Temporality keep their name and whether to try again."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def to_failure(self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure) -> None:
        """Write `exception` into `failure`."""
        if isinstance(exception, TemporalityError):
            exception = as_application_error(exception)
        super().to_failure(exception, payload_converter, failure)
        self._redact(failure)

    def _redact(self, failure: Failure) -> None:
        failure.message, _ = self._redactor.redact_text(failure.message)
        failure.stack_trace, _ = self._redactor.redact_text(failure.stack_trace)
        if failure.HasField("cause"):
            self._redact(failure.cause)


def as_application_error(error: TemporalityError) -> ApplicationError:
    """The failure that stands for `error`, without its cause: a database's own message may quote the row it refused."""
    kind = type(error)
    failure = ApplicationError(str(error), type=kind.__name__, non_retryable=not retryable(kind))
    failure.__suppress_context__ = True
    return failure


def data_converter(protection: Protection) -> DataConverter:
    """The converter of an installation with this key and artifact store; give the same to `Client.connect` and `Replayer`."""

    class Bound(ProtectingFailureConverter):
        # the SDK makes the converter itself, from the class alone
        def __init__(self) -> None:
            super().__init__(protection.redactor)

    failure_converter: type[FailureConverter] = Bound
    return DataConverter(
        payload_converter_class=PydanticPayloadConverter,
        payload_codec=ProtectingCodec(protection),
        failure_converter_class=failure_converter,
    )


def protection_of(converter: DataConverter) -> Protection | None:
    """The protection of a converter made by `data_converter`; None of any other."""
    codec = converter.payload_codec
    return codec.protection if isinstance(codec, ProtectingCodec) else None
