"""OpenAPI 3.1 and JSON Schemas of the contract, from the route table and the models it names.

Responses are described as they are written, requests as they are read. Routes of method `ANY`
are the catch-all refusals and have no operation of their own.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from judgment.contract.errors import Problem, UnauthorizedProblem
from judgment.contract.jobs import Event
from judgment.contract.messages import GatewayError
from judgment.contract.routes import ROUTES, Auth, Route

if TYPE_CHECKING:
    from judgment.contract.route import Errors

Json = dict[str, Any]

CONTRACT_VERSION = "v1"

_SECURITY: dict[Auth, list[Json]] = {
    "none": [],
    "agent": [{"agentKey": []}],
    "owner": [{"ownerToken": []}, {"consoleSession": []}],
    "admin": [{"ownerToken": []}, {"consoleSession": []}],
    "either": [{"agentKey": []}, {"ownerToken": []}, {"consoleSession": []}],
}
_SCHEMES: Json = {
    "agentKey": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "sync_ and 43 url-safe characters",
    },
    "ownerToken": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "consoleSession": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-session",
        "description": "Writes also need a matching Origin and the X-CSRF-Token header.",
    },
}
_REFUSALS = {
    "400": "invalid_request",
    "401": "unauthorized",
    "403": "forbidden or profile_access_disabled",
    "404": "not_found",
    "409": "conflict",
    "413": "too_large",
    "429": "rate_limited",
    "500": "internal_error",
    "503": "unavailable",
}


def resolve(reference: str) -> type[BaseModel]:
    """The contract type that a route names as `module:Name`."""
    module, name = reference.split(":")
    return getattr(import_module(f"judgment.contract.{module}"), name)


def _models() -> list[tuple[type[BaseModel], JsonSchemaMode]]:
    found: dict[type[BaseModel], JsonSchemaMode] = {
        Event: "serialization",
        GatewayError: "serialization",
        Problem: "serialization",
        UnauthorizedProblem: "serialization",
    }
    for route in ROUTES:
        if route.response:
            found[resolve(route.response)] = "serialization"
    for route in ROUTES:
        for reference in filter(None, (route.request, route.query)):
            found.setdefault(resolve(reference), "validation")
    return sorted(found.items(), key=lambda item: item[0].__name__)


def schemas() -> dict[str, Json]:
    """One self-contained JSON Schema (draft 2020-12) per wire type, by its name."""
    return {
        model.__name__: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **model.model_json_schema(mode=mode),
        }
        for model, mode in _models()
    }


def _component(reference: str) -> Json:
    return {"$ref": f"#/components/schemas/{resolve(reference).__name__}"}


def _refused(status: str, errors: Errors = "contract") -> Json:
    model = "GatewayError" if errors == "gateway" else "Problem"
    model = "UnauthorizedProblem" if status == "401" else model
    answer: Json = {
        "description": _REFUSALS[status],
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}}},
    }
    if status == "429":
        answer["headers"] = {"Retry-After": {"schema": {"type": "integer", "minimum": 1}}}
    if status == "401":
        answer["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    return answer


def _refusal_statuses(route: Route) -> list[str]:
    statuses = {"500", "503", *map(str, route.refuses)}
    if route.auth != "none":
        statuses |= {"400", "401"}
    if route.scope or route.auth == "admin":
        statuses.add("403")
    if "{" in route.path:
        statuses.add("404")
    if route.limit:
        statuses.add("429")
    if route.request:
        statuses.add("413")
    if route.idempotent:
        statuses.add("409")
    return sorted(statuses)


def _answered(route: Route) -> Json:
    answer: Json = {"description": route.summary}
    if route.response:
        answer["content"] = {route.media_type: {"schema": _component(route.response)}}
    elif route.media_type != "application/json":
        answer["content"] = {route.media_type: {"schema": {"type": "string"}}}
    return answer


def _parameters(route: Route) -> list[Json]:
    found: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)\+?}", route.path)
    ]
    if route.query:
        schema = resolve(route.query).model_json_schema()
        found += [
            {"name": name, "in": "query", "required": False, "schema": value}
            for name, value in schema.get("properties", {}).items()
        ]
    headers = [("X-Correlation-Id", 128)] if route.auth != "none" else []
    if route.idempotent:
        headers.append(("Idempotency-Key", 255))
    return found + [
        {"name": n, "in": "header", "required": False, "schema": {"type": "string", "maxLength": m}}
        for n, m in headers
    ]


def _operation(route: Route) -> Json:
    name = re.sub(r"\W+", "_", f"{route.method.lower()}{route.path}").strip("_")
    operation: Json = {
        "operationId": name,
        "summary": route.summary,
        "tags": [route.door],
        "security": _SECURITY[route.auth],
        "parameters": _parameters(route),
    }
    if route.request:
        body = {"application/json": {"schema": _component(route.request)}}
        operation["requestBody"] = {"required": True, "content": body}
    operation["responses"] = {str(route.status): _answered(route)}
    operation["responses"] |= {
        status: _refused(status, route.errors) for status in _refusal_statuses(route)
    }
    if route.scope:
        operation["x-scope"] = route.scope.value
    return operation


def openapi() -> Json:
    """The OpenAPI 3.1 document of every route that is not a catch-all."""
    paths: Json = {}
    for route in ROUTES:
        if route.method != "ANY":
            path = route.path.replace("+}", "}")
            paths.setdefault(path, {})[route.method.lower()] = _operation(route)
    _, definitions = models_json_schema(_models(), ref_template="#/components/schemas/{model}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Judgment",
            "version": CONTRACT_VERSION,
            "summary": "Reads an owner's judgment for the owner's own agents.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": definitions["$defs"], "securitySchemes": _SCHEMES},
    }
