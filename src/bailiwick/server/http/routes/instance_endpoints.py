"""Endpoints of instances: a list of them, and requests that are passed on to the app.

An app's answer bears ``X-Bailiwick-Endpoint``; one without it is the platform's own.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Path, Request
from starlette.requests import ClientDisconnect

from bailiwick.apps.endpoints.headers import HEADER_BYTES_MAX, to_caller
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Here
from bailiwick.server.http.cookies import bearer_of
from bailiwick.server.http.passing import MARK, PassedResponse, split_target
from bailiwick.server.http.routes.execs import house_of
from bailiwick.server.http.routes.instances import Place
from bailiwick.services.apps.endpoints import serving
from bailiwick.services.apps.endpoints.exchange import EndpointRequest
from bailiwick.services.apps.endpoints.serving import EndpointHouse
from bailiwick.services.apps.instances import InstancePlace
from bailiwick.services.authority import Principal
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.wire import instances as wire

PathEndpoint = Annotated[
    str, Path(pattern="^[a-z]([a-z0-9-]{0,29}[a-z0-9])?$", description="The endpoint's name.")
]
PathRest = Annotated[str, Path(max_length=8_192, description="What is asked of the app.")]


class EndpointAddress:
    """The endpoint that a path names, and what is asked of it."""

    def __init__(self, place: InstancePlace, endpoint: str) -> None:
        self.place, self.endpoint = place, endpoint


def address_of(place: Place, endpoint: PathEndpoint, *, rest: PathRest) -> EndpointAddress:
    """The endpoint that a path names."""
    del rest  # as it is spelled it stands in the request
    return EndpointAddress(place, endpoint)


Address = Annotated[EndpointAddress, Depends(address_of)]


@answers("instance_endpoint.list")
async def list_endpoints(asked: Here, place: Place) -> wire.InstanceEndpoints:
    """What members of an instance serve to people, and who does now."""
    found = await serving.list_endpoints(asked, place)
    items = [
        wire.InstanceEndpoint(
            name=each.name,
            title=each.spec.title,
            role=each.spec.role,
            component_key=each.component_key,
        )
        for each in found
    ]
    return wire.InstanceEndpoints(items=items)


@answers("instance_endpoint.get")
async def get_from(asked: Here, request: Request, *, address: Address) -> PassedResponse:
    """Have the app answer a request: path and query below the endpoint's name are its own.

    Neither token nor cookie reaches the app, and it sets none. Scripts of its pages do not run in a
    browser here; `bailiwick app open` gives an app an origin of its own.
    """
    return await _pass_on(asked, request, address)


@answers("instance_endpoint.post")
async def post_to(asked: Here, request: Request, *, address: Address) -> PassedResponse:
    """As to read from it, with a body of any type; it is passed on as it comes."""
    return await _pass_on(asked, request, address)


@answers("instance_endpoint.put")
async def put_to(asked: Here, request: Request, *, address: Address) -> PassedResponse:
    """As to send to it."""
    return await _pass_on(asked, request, address)


@answers("instance_endpoint.patch")
async def patch_at(asked: Here, request: Request, *, address: Address) -> PassedResponse:
    """As to send to it."""
    return await _pass_on(asked, request, address)


@answers("instance_endpoint.delete")
async def delete_at(asked: Here, request: Request, *, address: Address) -> PassedResponse:
    """As to read from it."""
    return await _pass_on(asked, request, address)


async def _pass_on(asked: Asked, request: Request, address: EndpointAddress) -> PassedResponse:
    prefix, target = split_target(request.scope)
    house = EndpointHouse(desk=asked.house.parts.endpoints, execs=house_of(asked))

    async def still_may() -> None:
        found = await asked.house.door.identify(bearer_of(request))
        if not isinstance(found, Principal):
            raise Unavailable("the endpoint", "the token lets nobody in any more")
        asked.principal = found
        asked.require(address.place.scope)

    passed = await serving.pass_on(
        asked,
        house,
        place=address.place,
        endpoint=address.endpoint,
        request=_request(request, target),
        still_may=still_may,
    )
    headers = [*to_caller(passed.headers, prefix=prefix)]
    headers.append((MARK.encode(), address.endpoint.encode()))
    return PassedResponse(passed.status, headers, body=passed.body, leave=passed.leave)


def _request(request: Request, target: bytes) -> EndpointRequest:
    headers = list(request.headers.raw)
    if sum(len(name) + len(value) for name, value in headers) > HEADER_BYTES_MAX:
        raise InvalidValue("headers", "(not shown)", f"at most {HEADER_BYTES_MAX} bytes")
    told = request.headers.get("content-length", "")
    length = int(told) if re.fullmatch("[0-9]{1,15}", told) else None
    is_chunked = "transfer-encoding" in request.headers
    return EndpointRequest(
        method=request.method,
        target=target,
        headers=headers,
        length=None if is_chunked else length,
        has_body=is_chunked or bool(length),
        body=_pieces(request),
    )


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect:
        raise Unavailable("the endpoint", "its caller went away") from None
