// Made from docs/openapi.json by web/api-types (npm run generate). Not edited by hand.
export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the server is up
         * @description Answers while the process runs; says nothing about its state.
         */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read all metrics
         * @description All metrics, in Prometheus' text format.
         *
         *     Needs the permission `telemetry.metrics.read` over the fleet.
         */
        get: operations["metrics_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the server is ready
         * @description Answers once the state is loaded; until then 503.
         */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List apps
         * @description The apps that the caller may see.
         *
         *     Needs the permission `scheduler.catalog.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["app_list"];
        put?: never;
        /**
         * Publish a version of an app
         * @description Publish a version from its manifest (YAML or JSON); a version stays what it is.
         *
         *     The first version makes the app. A mistake in the manifest is told with its line and column.
         *
         *     Needs the permission `scheduler.catalog.publish` at the scope that the body names.
         */
        post: operations["app_publish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an app
         * @description One app; its revision is the ``ETag``.
         *
         *     Needs the permission `scheduler.catalog.read` where the app was published; to read a public one, at some scope.
         */
        get: operations["app_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Deprecate, retire, show or hide an app
         * @description Change how far an app has come, or who sees it.
         *
         *     Needs the permission `scheduler.catalog.publish` where the app was published; to read a public one, at some scope.
         */
        patch: operations["app_change"];
        trace?: never;
    };
    "/v1/apps/{app}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an app's versions
         * @description The versions of an app, by their spelling.
         *
         *     Needs the permission `scheduler.catalog.read` where the app was published; to read a public one, at some scope.
         */
        get: operations["app_version_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a version with its manifest
         * @description One version with its manifest, in the form whose SHA-256 is its digest.
         *
         *     Needs the permission `scheduler.catalog.read` where the app was published; to read a public one, at some scope.
         */
        get: operations["app_version_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Publish a draft, deprecate or retire a version
         * @description Change how far one version has come: published, deprecated, retired.
         *
         *     Needs the permission `scheduler.catalog.publish` where the app was published; to read a public one, at some scope.
         */
        patch: operations["app_version_change"];
        trace?: never;
    };
    "/v1/apps/{app}/versions/{version}/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seal a check of a version
         * @description Have what a check saw judged and sealed; needs the rights of the app's publisher.
         *
         *     What the journal knows of it is read there and not believed: a claim that contradicts it is
         *     refused with ``evidence_contradicted``. ``bailiwick app check`` makes such a check.
         *
         *     Needs the permission `scheduler.catalog.publish` where the app was published; to read a public one, at some scope.
         */
        post: operations["app_version_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/versions/{version}/host": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Grant a version the host, or take it back
         * @description Let members of a version do more on their nodes than a sandbox lets them; people only.
         *
         *     Needs the permission `scheduler.host_privilege.grant` over the fleet.
         */
        put: operations["app_version_grant"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifact-sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List artifact sources
         * @description Everybody's sources, and those of tenants that the caller may see.
         *
         *     Needs the permission `scheduler.catalog.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["artifact_source_list"];
        /**
         * Set an artifact source
         * @description Set where artifacts may come from; without a tenant it is everybody's.
         *
         *     An address has no user or password in it. Keys are public ones, as minisign prints them.
         *
         *     Needs the permission `scheduler.artifact.manage` at the scope that the body names.
         */
        put: operations["artifact_source_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List artifacts
         * @description Everybody's artifacts, and those of scopes that the caller may see.
         *
         *     Needs the permission `scheduler.catalog.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["artifact_list"];
        put?: never;
        /**
         * Register an artifact by digest
         * @description Name bytes by their digest; they are used once they are verified.
         *
         *     Needs the permission `scheduler.artifact.manage` at the scope that the body names.
         */
        post: operations["artifact_register"];
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Promote, deprecate, retire, verify or revoke an artifact
         * @description Change an artifact's life, trust or channel; each change is sealed with what was before.
         *
         *     Needs the permission `scheduler.artifact.manage` at the scope that the body names.
         */
        patch: operations["artifact_change"];
        trace?: never;
    };
    "/v1/artifacts/{digest}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Pull an artifact with a credential
         * @description The bytes of an artifact, or of a part of it (of an image: a layer), for a credential.
         *
         *     Whoever shows it must be its audience. Everything is asked again: that it has not run out, its
         *     operation goes on, and the artifact may still be used there.
         *
         *     Needs a login, and no permission.
         */
        get: operations["artifact_pull"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifacts/fetch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch an artifact to the server
         * @description Fetch an artifact to the server; it is kept if all of it is what its digests say.
         *
         *     Other bytes are refused (`verification_failed`) and never kept. Nothing is said of its trust.
         *     What takes long goes on: `is_done` is false then; ask again.
         *
         *     Needs the permission `scheduler.artifact.manage` at the scope that the body names.
         */
        post: operations["artifact_fetch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifacts/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain whether artifacts may be used
         * @description Whether each artifact of a version may be used there, with everything that was asked.
         *
         *     Needs the permission `scheduler.catalog.read` at the scope that the body names.
         */
        post: operations["artifact_resolve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifacts/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch an artifact and find out who signed it
         * @description Fetch an artifact, and seal whether it is verified, with the reason and the key.
         *
         *     Where its source names keys, one of them must have signed it. What fails is sealed as
         *     `failed_verification` and answered with `verification_failed`. What takes long goes on:
         *     `is_done` is false then; ask again.
         *
         *     Needs the permission `scheduler.artifact.manage` at the scope that the body names.
         */
        post: operations["artifact_verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/attestation/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the attestation policy
         * @description Which nodes must prove what; the ``ETag`` is the policy's digest.
         *
         *     Needs the permission `scheduler.settings.read` over the fleet.
         */
        get: operations["trust_policy_read"];
        /**
         * Set the attestation policy
         * @description Replace the whole policy; one with a mistake is refused. Every node is then judged by it.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        put: operations["trust_policy_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/booking-series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List series of bookings
         * @description The series by which nodes are booked, of the tenants that you belong to.
         *
         *     Needs the permission `scheduler.booking.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["booking_series_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List bookings
         * @description The bookings that are ahead or on, of the tenants that you belong to.
         *
         *     Needs the permission `scheduler.booking.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["booking_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/break-glass": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Break glass
         * @description A token with all that your roles allow, for a few minutes; your reason is recorded first.
         *
         *     Needs the permission `iam.break_glass.use` over the fleet.
         */
        post: operations["glass_break"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/capabilities/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the keys of lease tokens
         * @description The public keys of the server and of nodes, with which lease tokens are checked.
         *
         *     Needs a login, and no permission.
         */
        get: operations["capability_keys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/capabilities/revocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read revocations of lease tokens
         * @description Which lease tokens no longer count, of those that have not expired yet.
         *
         *     Needs a login, and no permission.
         */
        get: operations["capability_revocations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cell/home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read whose cell this is
         * @description Whose cell this plane is, in which epoch, and how much of its home's it has.
         *
         *     Needs the permission `scheduler.cell.read` over the fleet.
         */
        get: operations["cell_home_read"];
        put?: never;
        post?: never;
        /**
         * Be nobody's cell any more
         * @description Be nobody's cell any more; only while nothing of the home's is here.
         *
         *     Needs the permission `scheduler.cell.operate` over the fleet.
         */
        delete: operations["cell_home_leave"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cell/letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Order what a home wants of its cell
         * @description Do what a home orders, each once and in turn, and tell what became of what it gave.
         *
         *     The home asks for any tenant that is here. An order of another epoch or too late is a conflict;
         *     what was done before it stays done.
         *
         *     Needs the permission `scheduler.cell.home` over the fleet.
         */
        post: operations["cell_home_letter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cell/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask what a cell could do for a request
         * @description What this plane could do for a request of its home's; nothing changes, or is held.
         *
         *     Needs the permission `scheduler.cell.home` over the fleet.
         */
        post: operations["cell_home_offer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cells": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List cells
         * @description The cells of this plane, and how it stands with them.
         *
         *     Needs the permission `scheduler.cell.read` over the fleet.
         */
        get: operations["cell_list"];
        put?: never;
        /**
         * Join a cell
         * @description Have another plane as a cell. It gets nothing before it was met.
         *
         *     Its address is `https://HOST:PORT`; `http://` only on this machine.
         *
         *     Needs the permission `scheduler.cell.operate` over the fleet.
         */
        post: operations["cell_join"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cells/{cell}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a cell
         * @description One cell: whether it is reached, in which epoch, and if not, why.
         *
         *     Needs the permission `scheduler.cell.read` over the fleet.
         */
        get: operations["cell_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cells/{cell}/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Part with a cell
         * @description Part with a cell that has no requests; or give it up as lost, with all that it has.
         *
         *     Whoever says `lost` knows that nothing runs there: what it had is over here at once.
         *
         *     Needs the permission `scheduler.cell.operate` over the fleet.
         */
        post: operations["cell_leave"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch what becomes old for you
         * @description Which nouns became old, of what the caller may read: a hint to read them again, no more.
         *
         *     What others do moves nothing here: neither an event, nor its time, nor its id. After a place
         *     that is not known any more (the server was started anew) the first event has `missed`.
         *
         *     Needs a login, and no permission.
         */
        get: operations["self_watch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entitlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who may use which apps
         * @description The lines about apps at scopes that the caller may see.
         *
         *     Needs the permission `scheduler.catalog.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["entitlement_list"];
        /**
         * Say who may use an app how
         * @description Replace the line about an app at a project, a tenant or the fleet; people only.
         *
         *     A line only narrows those above it; one that would broaden is refused. ``If-Match`` names the
         *     revision of the line that was read, 0 for none.
         *
         *     Needs the permission `scheduler.entitlement.set` at the scope that the body names.
         */
        put: operations["entitlement_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entitlements/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain what counts for an app
         * @description What the lines of the fleet, the tenant and the project say together, with their sources.
         *
         *     Needs the permission `scheduler.catalog.read` at the scope that the body names.
         */
        post: operations["entitlement_explain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List events
         * @description Events in the order of the journal, as CloudEvents; there is no ``next`` at its end.
         *
         *     A page may be empty and have a ``next``: a bounded number of records is looked at for each.
         *
         *     Needs the permission `scheduler.instance.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["event_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch events
         * @description The events that the caller may read, as they happen.
         *
         *     Needs the permission `scheduler.instance.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["event_watch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/federation/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a program's identity for a short token
         * @description Exchange what a CI system signed for a job, or a key, for a short token of an account.
         *
         *     Whatever is wrong, the answer is the same; the journal has a word for it.
         */
        post: operations["federation_exchange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/findings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List findings
         * @description The findings that the caller may see, the newest first.
         *
         *     Needs the permission `metering.usage.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["finding_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/fleet/picture": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See the fleet as one picture
         * @description Every node and GPU, and who holds it, as far as the caller may see; the same bytes for all.
         *
         *     While the server is busy one picture is made for all who ask within a moment.
         *
         *     Needs the permission `scheduler.node.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["fleet_picture"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/global/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List requests to all cells
         * @description The requests to all cells that the caller may see and that are not over, oldest first.
         *
         *     Needs the permission `scheduler.lease.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["global_request_list"];
        put?: never;
        /**
         * Ask for a lease in any cell
         * @description Ask for resources in whichever cell has them. One cell gets it, and says what became of it.
         *
         *     `wait` stays true, and `scheduler_type` is left out.
         *
         *     Needs the permission `scheduler.queue.submit` at the scope that the body names.
         */
        post: operations["global_request_ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/global/requests/{global_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a request to all cells
         * @description One request to all cells: where it is, and which leases it has there.
         *
         *     Needs the permission `scheduler.lease.read` where the request belongs.
         */
        get: operations["global_request_read"];
        put?: never;
        post?: never;
        /**
         * Withdraw a request to all cells
         * @description Take a request back: it leaves the line, or its leases end in its cell.
         *
         *     While its cell is cut off, that waits until it is met again.
         *
         *     Needs the permission `scheduler.lease.hold` where the request belongs.
         */
        delete: operations["global_request_withdraw"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graphs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List graphs
         * @description The graphs that the caller may see, newest first.
         *
         *     Needs the permission `scheduler.queue.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["graph_list"];
        put?: never;
        /**
         * Submit a graph
         * @description Take up a graph: each task is submitted as a job once what it stands after is over.
         *
         *     Needs the permission `scheduler.queue.submit` at the scope that the body names.
         */
        post: operations["graph_submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graphs/{graph_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a graph
         * @description One graph with all of its tasks; what they run is not told.
         *
         *     Needs the permission `scheduler.queue.read` where the graph belongs.
         */
        get: operations["graph_read"];
        put?: never;
        post?: never;
        /**
         * Cancel a graph
         * @description End a graph: what waits is not begun, what runs is torn down soon after.
         *
         *     Needs the permission `scheduler.queue.cancel` where the graph belongs.
         */
        delete: operations["graph_cancel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graphs/{graph_id}/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a task's outputs
         * @description What an attempt made, and where it saved its work; a job's own token is enough.
         *
         *     Needs the permission `scheduler.lease.hold` where the graph belongs.
         */
        post: operations["graph_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graphs/{graph_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a graph
         * @description Try again what did not succeed, of a graph that is over.
         *
         *     Needs the permission `scheduler.queue.submit` where the graph belongs.
         */
        post: operations["graph_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graphs/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plan a graph
         * @description What a graph would lead to: its longest path, its cost, and when each task could start.
         *
         *     Needs the permission `scheduler.queue.submit` at the scope that the body names.
         */
        post: operations["graph_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what you were told
         * @description What you were told, the newest first, as far as you may still read what it is about.
         *
         *     Needs a login, and no permission.
         */
        get: operations["inbox_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/inbox/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have notices be read
         * @description Have notices be read; all, if none is named.
         *
         *     Needs a login, and no permission.
         */
        post: operations["inbox_read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List roles that you may accept
         * @description The roles elsewhere that you may accept; until then they count for nothing.
         *
         *     Needs a login, and no permission.
         */
        get: operations["invitation_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a role
         * @description Accept a role; you can give it up again.
         *
         *     Needs a login, and no permission.
         */
        post: operations["invitation_accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decline a role
         * @description Decline a role.
         *
         *     Needs a login, and no permission.
         */
        post: operations["invitation_decline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give up a role elsewhere
         * @description Give up a role that you have elsewhere; one at home is your administrator's to take.
         *
         *     Needs a login, and no permission.
         */
        post: operations["invitation_leave"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/isolation/enforce": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enforce an isolation policy once
         * @description Evict, with its grace, what runs where a policy forbids it; that policy is not set.
         *
         *     Needs the permission `scheduler.isolation.set` over the fleet.
         */
        post: operations["isolation_enforce"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/isolation/lint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lint an isolation policy
         * @description Every mistake of a text with its place; without any, what is to know about the policy.
         *
         *     Needs the permission `scheduler.isolation.read` over the fleet.
         */
        post: operations["isolation_lint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/isolation/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the isolation policy
         * @description Who may not meet whom, and what was left behind; the ``ETag`` is the policy's version.
         *
         *     Needs the permission `scheduler.isolation.read` over the fleet.
         */
        get: operations["isolation_read"];
        /**
         * Set the isolation policy
         * @description Replace the whole policy; work that may not stay under it is evicted, with its grace.
         *
         *     Needs the permission `scheduler.isolation.set` over the fleet.
         */
        put: operations["isolation_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/isolation/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview an isolation policy
         * @description What a policy would do if it were set now: who would have to go, and who could never run.
         *
         *     Needs the permission `scheduler.isolation.read` over the fleet.
         */
        post: operations["isolation_preview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/isolation/scrub": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Scrub a domain
         * @description Say that nothing of those who left is in a domain any more: it is for everybody again.
         *
         *     Needs the permission `scheduler.isolation.set` over the fleet.
         */
        post: operations["isolation_scrub"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/isolation/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search for a way around an isolation policy
         * @description Search, in a small world, for a history that ends where the policy forbids it.
         *
         *     Or for one that it would forbid without one of its exceptions, or without a rule's hours. It
         *     ends when the caller hangs up; there is one search at a time on a server. Nothing is written.
         *
         *     Needs the permission `scheduler.isolation.read` over the fleet.
         */
        post: operations["isolation_search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List jobs
         * @description The jobs that the caller may see and that were asked for, newest first.
         *
         *     Needs the permission `scheduler.queue.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["job_list"];
        put?: never;
        /**
         * Submit a job
         * @description Run a command now or, with ``wait``, as soon as there is room.
         *
         *     Needs the permission `scheduler.queue.submit` at the scope that the body names.
         */
        post: operations["job_submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a job
         * @description One job.
         *
         *     Needs the permission `scheduler.queue.read` where the job belongs.
         */
        get: operations["job_read"];
        put?: never;
        post?: never;
        /**
         * Cancel a job
         * @description End a job, or take it out of the queue; what runs is torn down soon after.
         *
         *     Needs the permission `scheduler.queue.cancel` where the job belongs.
         */
        delete: operations["job_cancel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/execs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a program inside a job
         * @description Run a program inside a job that runs, with what the job has and nothing more.
         *
         *     Needs the permission `scheduler.job.exec` where the job belongs.
         */
        post: operations["job_exec"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/execs/{exec_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a program inside a job
         * @description End the program, if it has not ended; its exit is then not waited for.
         *
         *     Needs the permission `scheduler.job.exec` where the job belongs.
         */
        delete: operations["job_exec_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/execs/{exec_id}/input": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Type into a program inside a job
         * @description What its caller typed, from an offset on; the answer says up to where there was room.
         *
         *     Needs the permission `scheduler.job.exec` where the job belongs.
         */
        put: operations["job_exec_type"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/execs/{exec_id}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read what a program inside a job wrote
         * @description What the program wrote from an offset on; ``wait_s`` holds the answer back.
         *
         *     Needs the permission `scheduler.job.exec` where the job belongs.
         */
        post: operations["job_exec_read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{job_id}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a job's output
         * @description A piece of what a job printed; ``wait_s`` holds the answer back until there is more.
         *
         *     Needs the permission `scheduler.queue.read` where the job belongs.
         */
        get: operations["job_output"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read a job file
         * @description The job that a job file asks for, or what is wrong in it; nothing is submitted.
         *
         *     Needs the permission `scheduler.queue.submit` at the scope that the body names.
         */
        post: operations["job_file"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/journal/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the journal's checkpoint
         * @description The journal's size and root now, signed.
         *
         *     Needs the permission `journal.record.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["checkpoint_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/journal/consistency": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prove that the journal only grew
         * @description What shows that the journal of one size is the begin of the journal of another.
         *
         *     Needs the permission `journal.record.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["checkpoint_compare"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/journal/key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the journal's public key
         * @description By which key checkpoints are signed: name, id and key, as signed notes write it.
         *
         *     Needs the permission `journal.record.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["checkpoint_key"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List leases
         * @description The leases that the caller may see, oldest first.
         *
         *     Needs the permission `scheduler.lease.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["lease_list"];
        put?: never;
        /**
         * Request a lease
         * @description Ask for resources now or, with ``wait``, as soon as they are free.
         *
         *     Needs the permission `scheduler.queue.submit` at the scope that the body names.
         */
        post: operations["lease_request"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a lease
         * @description One lease.
         *
         *     Needs the permission `scheduler.lease.read` where the lease belongs.
         */
        get: operations["lease_read"];
        put?: never;
        post?: never;
        /**
         * Release a lease
         * @description Give a lease back.
         *
         *     Needs the permission `scheduler.lease.hold` where the lease belongs.
         */
        delete: operations["lease_release"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a checkpoint of a lease's work
         * @description Say that the work is saved; during grace this ends the lease now.
         *
         *     Needs the permission `scheduler.lease.hold` where the lease belongs.
         */
        post: operations["lease_checkpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/clear-fence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Clear a lease's fence
         * @description Say that you looked at what a fenced lease held, and that it is clean.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        post: operations["lease_clear_fence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/evict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evict a lease
         * @description End a lease, and its gang, for one of the operator's reasons.
         *
         *     Needs the permission `scheduler.lease.evict` where the lease belongs.
         */
        post: operations["lease_evict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain what became of a lease
         * @description What became of a lease and why: its records in order, from the queue to its end.
         *
         *     Needs the permission `scheduler.lease.read` where the lease belongs.
         */
        get: operations["lease_explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew a lease
         * @description Hold a lease for another term from now, if the time it adds is allowed.
         *
         *     Needs the permission `scheduler.lease.hold` where the lease belongs.
         */
        post: operations["lease_renew"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/teardown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report the teardown of a lease
         * @description Say whether what a lease held is free; only that, or a fence, ends a confirmed teardown.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["lease_teardown"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{lease_id}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a lease token
         * @description Make a token with which work under a lease may use what the lease holds.
         *
         *     Needs the permission `scheduler.lease.hold` where the lease belongs.
         */
        post: operations["lease_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain a request before you make it
         * @description Why a request would run, wait or be refused now, and what would help; nothing changes.
         *
         *     Needs the permission `scheduler.queue.read` at the scope that the body names.
         */
        post: operations["request_explain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how to log in
         * @description How one can log in here: with a one-time code, and through which providers.
         */
        get: operations["login_ways"];
        put?: never;
        /**
         * Log in with a one-time code
         * @description Exchange a one-time login code for a session's token.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Log a browser in through a provider
         * @description Send a browser to a provider, which sends it back here with a code.
         *
         *     What belongs to the login is sealed in a cookie of ten minutes.
         */
        get: operations["login_begin"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/{provider}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Come back from a provider
         * @description Give a browser that comes back from a provider its session, and lead it to the page.
         *
         *     Who is not let in is led to `/?login_refused=WORD`; the refusal is sealed in the journal.
         */
        get: operations["login_end"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/{provider}/device": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log a terminal in through a provider
         * @description Begin a login from a terminal: a person ends it in any browser, with a code (RFC 8628).
         */
        post: operations["login_device"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login/{provider}/device/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask whether a terminal's login has ended
         * @description The session of whoever ended the login elsewhere; until then none.
         */
        post: operations["login_poll"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/maintenance/calendars": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List calendars of maintenance
         * @description The calendars by which windows are planned.
         *
         *     Needs the permission `scheduler.node.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["calendar_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/maintenance/calendars/{calendar}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a calendar of maintenance
         * @description Plan windows by this rule from now on; what is ahead by another is off.
         *
         *     ``rule`` is like `weekly on sat,sun at 02:00 for 4h in Europe/Berlin`.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        put: operations["calendar_set"];
        post?: never;
        /**
         * Withdraw a calendar of maintenance
         * @description Plan nothing by it any more; what is ahead by it is off, and what is on goes on.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        delete: operations["calendar_withdraw"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/maintenance/windows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List windows of maintenance
         * @description The windows of maintenance that are planned or on.
         *
         *     Needs the permission `scheduler.node.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["window_list"];
        put?: never;
        /**
         * Plan a window of maintenance
         * @description Announce that nodes are maintained: work that would not finish before is not started there.
         *
         *     What still runs when they are closed is warned, and has to be gone at the beginning.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        post: operations["window_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/maintenance/windows/{window}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a window of maintenance
         * @description One window: which nodes, from when until when, and how far it has come.
         *
         *     Needs the permission `scheduler.node.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["window_read"];
        put?: never;
        post?: never;
        /**
         * Cancel a window of maintenance
         * @description Call a window off. One that is on is over, and its nodes take work again.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        delete: operations["window_cancel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/may": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what you may do somewhere
         * @description What your keys let you ask for: in a project, in a tenant, or (neither) over the fleet.
         *
         *     Of what is not yours to see it is the same as of what is not there.
         *
         *     Needs a login, and no permission.
         */
        get: operations["self_may"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List roles over the fleet
         * @description Who has which role over the whole fleet.
         *
         *     Needs the permission `iam.member.read` over the fleet.
         */
        get: operations["fleet_member_list"];
        /**
         * Set a role over the fleet
         * @description Give a principal a role over the whole fleet, or take it away.
         *
         *     Needs the permission `iam.member.manage` over the fleet.
         */
        put: operations["fleet_member_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List nodes
         * @description The machines of the fleet; of those with labels, the ones that have all of them.
         *
         *     Needs the permission `scheduler.node.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["node_list"];
        put?: never;
        /**
         * Register a node
         * @description Add a machine to the fleet by hand; where an agent runs, it adds its own.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        post: operations["node_register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a node
         * @description One machine: its mode, whether it lives, whether it is trusted, and what it has.
         *
         *     Needs the permission `scheduler.node.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["node_read"];
        put?: never;
        post?: never;
        /**
         * Remove a node
         * @description Say that a machine is gone; what ran there has ended.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        delete: operations["node_depart"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/attestation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a node's attestation
         * @description How far a node is trusted and why, what is asked of it, and by which keys it is known.
         *
         *     Needs the permission `scheduler.node.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["node_attestation"];
        put?: never;
        /**
         * Present a node's evidence
         * @description Present evidence for a nonce; bad evidence closes the node, an unknown nonce does nothing.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_attest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/counters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a node's usage counters
         * @description What was counted for leases on a node; the answer says how far it is stored.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_count"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/enrolment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enrol a node's keys
         * @description Offer the keys by which a node wants to be known; answers with a challenge to prove them.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_enrol"];
        /**
         * Withdraw a node's keys
         * @description A node's keys of one kind no longer count; it may then enrol with others.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        delete: operations["node_withdraw"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/enrolment/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Prove a node's keys
         * @description Answer the challenge; from then on the node is known by its keys.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_prove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/execs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read what is to run inside a node's jobs
         * @description What is to be run inside jobs of a node; ``wait_s`` holds the answer back.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_execs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/execs/{exec_id}/input": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read what was typed into a program of a node
         * @description What was typed into a program of a node, from an offset on; ``wait_s`` holds it back.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_exec_typed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/execs/{exec_id}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what a program of a node wrote
         * @description What a program of a node wrote, or how it ended; ``wait_s`` waits for room.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_exec_wrote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a node's health
         * @description Say all that is wrong with a machine; what fails it closes the node, and empties it.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_health_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a node's heartbeat
         * @description Say that a node is alive; the answer has a nonce when it is time to attest.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_beat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/inventory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Report a node's inventory
         * @description Say what a machine has; this adds it to the fleet, and said again changes nothing.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        put: operations["node_report"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/labels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Give a node labels, or take them away
         * @description Give a node labels beside its own; what runs there goes on. Said again it changes nothing.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        patch: operations["node_label"];
        trace?: never;
    };
    "/v1/nodes/{node}/lease-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a node mint a lease token
         * @description Let a node mint a token for a lease on it: the answer has the claims, and no token.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/mig": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repartition a node's devices
         * @description Empty a node, have its agent divide GPUs (or make them whole), and take it back.
         *
         *     Everybody on the node goes, guaranteed leases too. A dry run tells who.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        post: operations["node_mig"];
        /**
         * Cancel a node's repartitioning
         * @description Call it off. A node that was not empty yet takes work again; else it stays closed.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        delete: operations["node_mig_cancel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/mig/outcome": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report how a repartitioning went
         * @description Say how a node's agent fared, and what its machine has now; the node takes work again.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_mig_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change a node's mode
         * @description Change a node's mode. ``draining`` evicts its work, ``cordoned`` only takes no more of it.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        put: operations["node_mode"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/nonce": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a nonce to attest with
         * @description A nonce for a node to answer, once; one that it had before counts no more.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_nonce"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write a note about a node
         * @description Write a line about a node for others who run the fleet; its number is the answer's `seq`.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        post: operations["node_note_add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/notes/{note_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a note about a node
         * @description Take a note about a node away before it expires.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        delete: operations["node_note_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a node again
         * @description Let a node take leases again, along the mode table; one that can be tested is, before.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        post: operations["node_open"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what a node's jobs printed
         * @description What jobs of a node printed, each from a byte on; the answer says where each goes on.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_output"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/quarantine": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Quarantine a node
         * @description Close a node that is not trusted, and evict what runs there.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        put: operations["node_quarantine"];
        post?: never;
        /**
         * Lift a node's quarantine
         * @description Trust a node again, after a fresh trusted verdict; or (``override``) without, and say why.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        delete: operations["node_lift"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Test a node
         * @description Have an empty node tested; its number is the answer's `seq`.
         *
         *     Needs the permission `scheduler.node.operate` over the fleet.
         */
        put: operations["node_test"];
        /**
         * Report how a node's test went
         * @description Say what the test of a machine found; passed, a node that comes back takes work.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_test_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/ticket": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a ticket about a node
         * @description A text about a machine for whoever repairs it; it names no tenant.
         *
         *     Needs the permission `scheduler.node.read` over the fleet.
         */
        get: operations["node_ticket"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes/{node}/work": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what is to run on a node
         * @description What is to run, end or be forgotten on a node; ``wait_s`` holds the answer back.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        get: operations["node_work"];
        put?: never;
        /**
         * Report what became of a node's jobs
         * @description What a node's agent saw of its jobs; told again it changes nothing.
         *
         *     Needs the permission `scheduler.node.report` over the fleet.
         */
        post: operations["node_observe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how you are told of things
         * @description By which ways you are told of what, and what became of the last notice of each way.
         *
         *     Needs a login, and no permission.
         */
        get: operations["notice_read"];
        /**
         * Set how you are told of things
         * @description Be told by other ways from now on; all that is asked for, or nothing of it.
         *
         *     A new address is mailed a code, which `POST /v1/notices/verify` takes; before, nothing else is
         *     sent there, and what goes to the one before still does. A new webhook is told its secret, once.
         *     Where the server sends no mail, neither an address nor mail can be chosen (409). Only a person
         *     may, with a token that is not narrowed.
         *
         *     Needs a login, and no permission.
         */
        put: operations["notice_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notices/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace your webhook's secret
         * @description Replace the secret of your webhook: the answer tells it, once.
         *
         *     The one before counts for 24 hours more: until then messages are signed with both.
         *
         *     Needs a login, and no permission.
         */
        post: operations["notice_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notices/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send yourself a test notice
         * @description Send yourself a test notice by every way that leads to you; ten in an hour at most.
         *
         *     Needs a login, and no permission.
         */
        post: operations["notice_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notices/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show that an address is yours
         * @description Show the code that was mailed: the address counts from then on.
         *
         *     It counts for 15 minutes and five tries, and once.
         *
         *     Needs a login, and no permission.
         */
        post: operations["notice_verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/principals/home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Write down where somebody is at home
         * @description Write down where somebody is at home: who there looks after his tokens from now on.
         *
         *     Needs the permission `iam.member.manage` over the fleet.
         */
        put: operations["principal_home"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List waiting requests
         * @description The waiting requests that the caller may see, oldest first.
         *
         *     Needs the permission `scheduler.queue.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["queue_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queue/{entry_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a waiting request
         * @description One waiting request: where it stands, what is in its way, when it may start.
         *
         *     Needs the permission `scheduler.queue.read` where the request belongs.
         */
        get: operations["queue_read"];
        put?: never;
        post?: never;
        /**
         * Cancel a waiting request
         * @description Take a waiting request out of the queue.
         *
         *     Needs the permission `scheduler.queue.cancel` where the request belongs.
         */
        delete: operations["queue_cancel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queue/{entry_id}/whatif": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask what would become of a waiting request
         * @description What would become of a waiting request if what is supposed were so; nothing is changed.
         *
         *     Needs the permission `scheduler.queue.read` where the request belongs.
         */
        post: operations["queue_whatif"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List quotas and how they stand
         * @description The quotas of the tenants and projects that the caller may see, and how they stand.
         *
         *     Needs the permission `scheduler.quota.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["quota_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the rate card
         * @description The prices now, or at a time: the list, or those of a tenant.
         *
         *     Needs the permission `billing.rate_card.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["rates_read"];
        /**
         * Set rates
         * @description Set prices for everybody or for one tenant: at once, or from a time in the future.
         *
         *     Needs the permission `billing.rate_card.set` over the fleet.
         */
        put: operations["rates_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rates/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes of rates
         * @description Every change of prices that the caller may see, in the order in which they were set.
         *
         *     Needs the permission `billing.rate_card.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["rates_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/replica": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of this replica
         * @description How this replica stands.
         *
         *     Needs the permission `telemetry.metrics.read` over the fleet.
         */
        get: operations["replica_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List roles and their keys
         * @description The roles of the product, of the fleet, and of tenants that the caller may see.
         *
         *     Needs the permission `iam.member.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["role_list"];
        /**
         * Put a role together
         * @description Put a role together, or replace what it holds; nobody may give it more than he has himself.
         *
         *     Without a tenant it is the fleet's. Who has the role has what it holds now, at once.
         *
         *     Needs the permission `iam.role.manage` at the scope that the body names.
         */
        put: operations["role_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/roles/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete a role that nobody has
         * @description Delete a role of one's own; one that somebody has stays.
         *
         *     Needs the permission `iam.role.manage` at the scope that the body names.
         */
        post: operations["role_delete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List service accounts
         * @description The service accounts that the caller may see.
         *
         *     Needs the permission `iam.service_account.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["account_list"];
        put?: never;
        /**
         * Create a service account
         * @description Create a service account of a project, a tenant or the whole fleet.
         *
         *     Needs the permission `iam.service_account.manage` at the scope that the body names.
         */
        post: operations["account_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-accounts/{account}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Enable or disable a service account
         * @description Enable or disable a service account.
         *
         *     Needs the permission `iam.service_account.manage` where the service account belongs.
         */
        patch: operations["account_change"];
        trace?: never;
    };
    "/v1/service-accounts/{account}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys of a service account
         * @description The keys of this account, without what would let anybody use them.
         *
         *     Needs the permission `iam.service_account.read` where the service account belongs.
         */
        get: operations["account_key_list"];
        put?: never;
        /**
         * Add or rotate a key of a service account
         * @description Make a key, shown this once; it is exchanged for tokens of 15 minutes, and is none itself.
         *
         *     There are two at most. With `overlap_s` the one that there is ends so much later. You need
         *     `iam.token.issue` there, too.
         *
         *     Needs the permission `iam.service_account.manage` where the service account belongs.
         */
        post: operations["account_key_add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-accounts/{account}/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a key of a service account
         * @description End a key at once; tokens that it gave end within 15 minutes.
         *
         *     Needs the permission `iam.service_account.manage` where the service account belongs.
         */
        delete: operations["account_key_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-accounts/{account}/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List whom a service account trusts
         * @description By whose word programs become this account.
         *
         *     Needs the permission `iam.service_account.read` where the service account belongs.
         */
        get: operations["account_trust_list"];
        /**
         * Set whom a service account trusts
         * @description Let programs in as this account, if an issuer says this of them; or change such a rule.
         *
         *     The issuer is one that the fleet's operator allowed. You need `iam.token.issue` there, too.
         *
         *     Needs the permission `iam.service_account.manage` where the service account belongs.
         */
        put: operations["account_trust_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/service-accounts/{account}/trust/{rule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Trust somebody no more
         * @description Let nobody in by this rule any more; tokens that it gave end within 15 minutes.
         *
         *     Needs the permission `iam.service_account.manage` where the service account belongs.
         */
        delete: operations["account_trust_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the browser's session
         * @description The browser's session, with what its changes have to show as `X-CSRF-Token`.
         *
         *     Needs a login, and no permission.
         */
        get: operations["session_read"];
        put?: never;
        /**
         * Log a browser in with a one-time code
         * @description Exchange a one-time login code for a browser's session.
         *
         *     The token goes into a cookie (`__Host-bailiwick`) that no script reads, and is in no body. Only
         *     a page of this server may ask: another's request (`Sec-Fetch-Site`, `Origin`) is refused.
         */
        post: operations["session_begin"];
        /**
         * Log out
         * @description Revoke the token that this request is made with; a browser's cookie ends, too.
         *
         *     Needs a login, and no permission.
         */
        delete: operations["self_log_out"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/renewal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the browser's session
         * @description A new token in the browser's cookie; the one before is revoked by the same command.
         *
         *     A session lasts 12 hours at most, however often it is renewed. `csrf` stays the same.
         *
         *     Needs a login, and no permission.
         */
        post: operations["session_renew"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your own tokens
         * @description Your own tokens that still count: sessions, and what was made for you.
         *
         *     Needs a login, and no permission.
         */
        get: operations["session_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke one of your own tokens
         * @description Revoke one of your own tokens: whoever shows it is no longer let in.
         *
         *     Needs a login, and no permission.
         */
        delete: operations["session_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the scheduler's settings
         * @description How the scheduler works now; the ``ETag`` is a digest of it.
         *
         *     Needs the permission `scheduler.settings.read` over the fleet.
         */
        get: operations["settings_read"];
        /**
         * Set the scheduler's settings
         * @description Replace all settings; they count from now on and judge nothing again.
         *
         *     Needs the permission `scheduler.settings.set` over the fleet.
         */
        put: operations["settings_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/shares": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List fair shares and how they stand
         * @description The fair shares of the tenants and projects that the caller may see.
         *
         *     Needs the permission `scheduler.quota.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["share_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/story": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what happened to a thing
         * @description The sealed records about one thing, the newest first, of those that the caller may read.
         *
         *     A page may be empty and have a `next`: a bounded number of records is looked at for each. What
         *     became of a lease is told by `GET /v1/leases/{lease_id}/explain`.
         *
         *     Needs the permission `iam.tenant.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["decision_story"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tenants
         * @description The tenants that the caller may see.
         *
         *     Needs the permission `iam.tenant.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["tenant_list"];
        put?: never;
        /**
         * Create a tenant
         * @description Create a tenant; its name stays, ``display_name`` can change later.
         *
         *     Needs the permission `iam.tenant.manage` over the fleet.
         */
        post: operations["tenant_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tenant
         * @description One tenant; its revision is the ``ETag``.
         *
         *     Needs the permission `iam.tenant.read` at the tenant.
         */
        get: operations["tenant_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Rename, close or open a tenant
         * @description Change the name for people, or close or open the tenant.
         *
         *     Needs the permission `iam.tenant.manage` at the tenant.
         */
        patch: operations["tenant_change"];
        trace?: never;
    };
    "/v1/tenants/{tenant}/budget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tenant's budget
         * @description What a tenant may spend, and how that stands; the ``ETag`` is of what was set.
         *
         *     Needs the permission `billing.budget.read` at the tenant.
         */
        get: operations["tenant_budget_read"];
        /**
         * Set a tenant's budget
         * @description Replace a tenant's budget; for the same period it goes on counting.
         *
         *     Needs the permission `billing.budget.set` at the tenant.
         */
        put: operations["tenant_budget_set"];
        post?: never;
        /**
         * Remove a tenant's budget
         * @description What the tenant spends is no longer limited.
         *
         *     Needs the permission `billing.budget.set` at the tenant.
         */
        delete: operations["tenant_budget_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List budgets
         * @description The budgets of a tenant and its projects that the caller may see, the tenant's first.
         *
         *     Needs the permission `billing.budget.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["budget_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List scheduling decisions
         * @description What was decided about a tenant, the newest first; of projects, those one may see.
         *
         *     Needs the permission `scheduler.queue.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["decision_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/invoice-draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Draft an invoice
         * @description What an invoice of a period would say now; nothing is sealed.
         *
         *     Needs the permission `billing.invoice.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["invoice_draft"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List invoices
         * @description The invoices and corrections of a tenant that the caller may see, the newest first.
         *
         *     Needs the permission `billing.invoice.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["invoice_list"];
        put?: never;
        /**
         * Issue an invoice
         * @description Seal what a tenant, or one of its projects, owes for a period that is over.
         *
         *     Needs the permission `billing.invoice.issue` at the tenant.
         */
        post: operations["invoice_issue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/invoices/{invoice}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an invoice
         * @description One invoice or correction, as it was issued.
         *
         *     Needs the permission `billing.invoice.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["invoice_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/invoices/{invoice}/corrections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Correct an invoice
         * @description Compute an invoice again from what the journal says now; where it differs, correct it.
         *
         *     Needs the permission `billing.invoice.issue` at the tenant.
         */
        post: operations["invoice_correct"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/invoices/{invoice}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export an invoice
         * @description One invoice or correction as CSV: the bytes that ``bailiwick invoice export`` writes.
         *
         *     Needs the permission `billing.invoice.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["invoice_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/invoices/{invoice}/lines/{line}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Trace a line of an invoice
         * @description Which leases held what, when and by which records: all that a line adds up.
         *
         *     The stretches are those that the meter has now: what a correction would correct shows here.
         *
         *     Needs the permission `billing.invoice.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["invoice_trace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List roles at a tenant
         * @description Who has which role at a tenant.
         *
         *     Needs the permission `iam.member.read` at the tenant.
         */
        get: operations["tenant_member_list"];
        /**
         * Set a role at a tenant
         * @description Give a principal a role at a tenant, or take it away.
         *
         *     Needs the permission `iam.member.manage` at the tenant.
         */
        put: operations["tenant_member_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a tenant's projects
         * @description The projects of a tenant that the caller may see.
         *
         *     Needs the permission `iam.tenant.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["project_list"];
        put?: never;
        /**
         * Create a project
         * @description Create a project; its name stays, ``display_name`` can change later.
         *
         *     Needs the permission `iam.project.manage` at the tenant.
         */
        post: operations["project_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a project
         * @description One project; its revision is the ``ETag``.
         *
         *     Needs the permission `iam.tenant.read` at the project.
         */
        get: operations["project_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Rename, close or open a project
         * @description Change the name for people, or close or open the project.
         *
         *     Needs the permission `iam.project.manage` at the project.
         */
        patch: operations["project_change"];
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/booking-series/{series}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a series of bookings
         * @description One series, which of its times are booked, and why others cannot be yet.
         *
         *     Needs the permission `scheduler.booking.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["booking_series_read"];
        /**
         * Set a series of bookings
         * @description Book by this rule from now on; what is ahead by another of the name is off.
         *
         *     ``rule`` is like `weekly on tue at 09:00 for 2h in Europe/Berlin`. A dry run tells its next
         *     times, and for each which nodes it would get or why none.
         *
         *     Needs the permission `scheduler.booking.manage` at the project.
         */
        put: operations["booking_series_set"];
        post?: never;
        /**
         * Withdraw a series of bookings
         * @description Book nothing by it any more; what is ahead by it is off, and what is on goes on.
         *
         *     Needs the permission `scheduler.booking.manage` at the project.
         */
        delete: operations["booking_series_withdraw"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/bookings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Book nodes
         * @description Keep whole nodes for a project from one time to another.
         *
         *     Only nodes count on which nothing of anybody else reaches into that time: nobody is ended for a
         *     booking. From now on no term of others is begun there that would not have ended before.
         *
         *     Needs the permission `scheduler.booking.manage` at the project.
         */
        post: operations["booking_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/bookings/{booking}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a booking
         * @description One booking: which nodes, from when until when, and what was given back.
         *
         *     Needs the permission `scheduler.booking.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["booking_read"];
        put?: never;
        post?: never;
        /**
         * Cancel a booking
         * @description Call a booking off. One that is on is over; what runs there goes on to the end of its term.
         *
         *     One of a series is not booked again.
         *
         *     Needs the permission `scheduler.booking.manage` at the project.
         */
        delete: operations["booking_cancel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/budget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a project's budget
         * @description What a project may spend, and how that stands; the ``ETag`` is of what was set.
         *
         *     Needs the permission `billing.budget.read` at the project.
         */
        get: operations["project_budget_read"];
        /**
         * Set a project's budget
         * @description Replace a project's budget; for the same period it goes on counting.
         *
         *     Needs the permission `billing.project_budget.set` at the project.
         */
        put: operations["project_budget_set"];
        post?: never;
        /**
         * Remove a project's budget
         * @description What the project spends is no longer limited by a budget of its own.
         *
         *     Needs the permission `billing.project_budget.set` at the project.
         */
        delete: operations["project_budget_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instance-members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the members of a project's instances
         * @description The members of all instances of a project: what an operator reads when it begins.
         *
         *     Needs the permission `scheduler.instance.read` at the project.
         */
        get: operations["instance_member_list_all"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a project's instances
         * @description The instances of a project, the oldest first.
         *
         *     Needs the permission `scheduler.instance.read` at the project.
         */
        get: operations["instance_list"];
        put?: never;
        /**
         * Create an instance of an app
         * @description Have a project run an app that it is entitled to.
         *
         *     What the entitlement, the manifest or an artifact does not allow is refused with
         *     ``instance_refused`` and the word for it.
         *
         *     Needs the permission `scheduler.instance.create` at the project.
         */
        post: operations["instance_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an instance
         * @description One instance; its revision is the ``ETag``.
         *
         *     Needs the permission `scheduler.instance.read` at the project.
         */
        get: operations["instance_read"];
        put?: never;
        post?: never;
        /**
         * Delete an instance
         * @description Have an instance go; it is gone once its members are, and its operator has seen to it.
         *
         *     Needs the permission `scheduler.instance.delete` at the project.
         */
        delete: operations["instance_delete"];
        options?: never;
        head?: never;
        /**
         * Upgrade, roll back, scale, configure or pause an instance
         * @description Change what is wanted: an upgrade, a rollback, parameters, counts, a pause.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        patch: operations["instance_change"];
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/calls/{call_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a call of an instance
         * @description How far a call has come, and its answer; what was asked is told to nobody.
         *
         *     Needs the permission `scheduler.queue.read` at the project.
         */
        get: operations["instance_call_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/calls/{call_id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Answer a call of an instance
         * @description Answer a question that one took: once, and before its time is over.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        put: operations["instance_call_answer"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/calls/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask an instance to drop work
         * @description Ask an instance to take work out of its queue; as to submit.
         *
         *     Needs the permission `scheduler.queue.cancel` at the project.
         */
        post: operations["instance_queue_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/calls/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask an instance about its queue
         * @description Ask an instance what is in its queue; as to submit, but it changes nothing there.
         *
         *     Needs the permission `scheduler.queue.read` at the project.
         */
        post: operations["instance_queue_read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/calls/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask an instance to take work
         * @description Ask an instance to take work into its queue, and wait for what it says.
         *
         *     The same request under the same ``Idempotency-Key`` asks nothing anew: it goes on waiting. After
         *     ``within_s`` the answer is ``call_unanswered``.
         *
         *     Needs the permission `scheduler.queue.submit` at the project.
         */
        post: operations["instance_queue_submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/calls/take": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take the next question to an instance
         * @description Take the oldest question that nobody took: for the instance's operator.
         *
         *     It is handed out once. Whoever takes it and does not answer leaves it unanswered.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        post: operations["instance_call_take"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what an instance serves
         * @description What members of an instance serve to people, and who does now.
         *
         *     Needs the permission `scheduler.instance.read` at the project.
         */
        get: operations["instance_endpoint_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/endpoints/{endpoint}/{rest}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read from an endpoint of an instance
         * @description Have the app answer a request: path and query below the endpoint's name are its own.
         *
         *     Neither token nor cookie reaches the app, and it sets none. Scripts of its pages do not run in a
         *     browser here; `bailiwick app open` gives an app an origin of its own.
         *
         *     Needs the permission `scheduler.endpoint.open` at the project.
         */
        get: operations["instance_endpoint_get"];
        /**
         * Put to an endpoint of an instance
         * @description As to send to it.
         *
         *     Needs the permission `scheduler.endpoint.open` at the project.
         */
        put: operations["instance_endpoint_put"];
        /**
         * Send to an endpoint of an instance
         * @description As to read from it, with a body of any type; it is passed on as it comes.
         *
         *     Needs the permission `scheduler.endpoint.open` at the project.
         */
        post: operations["instance_endpoint_post"];
        /**
         * Delete at an endpoint of an instance
         * @description As to read from it.
         *
         *     Needs the permission `scheduler.endpoint.open` at the project.
         */
        delete: operations["instance_endpoint_delete"];
        options?: never;
        head?: never;
        /**
         * Change at an endpoint of an instance
         * @description As to send to it.
         *
         *     Needs the permission `scheduler.endpoint.open` at the project.
         */
        patch: operations["instance_endpoint_patch"];
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/force-deletion": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End an overdue deletion by force
         * @description Have done with an instance whose deletion is overdue: people of the fleet, openly.
         *
         *     Needs the permission `iam.break_glass.use` over the fleet.
         */
        post: operations["instance_force_delete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an instance's members
         * @description The members of an instance, the oldest first.
         *
         *     Needs the permission `scheduler.instance.read` at the project.
         */
        get: operations["instance_member_list"];
        put?: never;
        /**
         * Add, drain, remove or replace a member
         * @description Add, drain, remove or replace a member; under the same ``Idempotency-Key`` it happens once.
         *
         *     A member is named by its ``component_key``, or by its ``member_id``: then nothing is done to one
         *     that came in its place. Where it runs is the platform's to choose.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        post: operations["instance_member_change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an instance's operations
         * @description The operations on an instance, newest first; of those that ended, the last.
         *
         *     Needs the permission `scheduler.instance.read` at the project.
         */
        get: operations["instance_operation_list"];
        put?: never;
        /**
         * Begin an operation
         * @description Begin a task of the operator's; under the same ``Idempotency-Key`` it is the same one.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        post: operations["instance_operation_begin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/operations/{operation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an operation
         * @description One operation.
         *
         *     Needs the permission `scheduler.instance.read` at the project.
         */
        get: operations["instance_operation_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Tell how far an operation is
         * @description Tell how far an operation is, with lines for its log.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        patch: operations["instance_operation_advance"];
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/operations/{operation_id}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell what came of an operation
         * @description Tell what came of a task; what the platform does itself ends by what happens.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        post: operations["instance_operation_finish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Report how an instance is
         * @description Tell what the operator sees; ``If-Match`` has to name the revision that it is about.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        put: operations["instance_report"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/instances/{instance_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read what an instance told of its use
         * @description What was told of an instance's use: by unit, up to when, and by whom.
         *
         *     Needs the permission `scheduler.instance.read` at the project.
         */
        get: operations["instance_usage_read"];
        put?: never;
        /**
         * Tell what an instance used, in units of its app
         * @description Tell how much of a unit was used in a time that is over.
         *
         *     Reports of a source are numbered from 1, without a gap: the same number with the same content
         *     does nothing, with another it is refused.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        post: operations["instance_usage_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List roles at a project
         * @description Who has which role at a project.
         *
         *     Needs the permission `iam.member.read` at the project.
         */
        get: operations["project_member_list"];
        /**
         * Set a role at a project
         * @description Give a principal a role at a project, or take it away.
         *
         *     Needs the permission `iam.member.manage` at the project.
         */
        put: operations["project_member_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/pull-credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a credential for a pull
         * @description Let somebody pull an artifact of an instance for minutes, while an operation goes on.
         *
         *     The credential is shown this once. It is of use to its audience alone, for this digest.
         *
         *     Needs the permission `scheduler.instance.update` at the project.
         */
        post: operations["artifact_let_pull"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/quota": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a project's quota
         * @description What a project is allowed, and how that stands; the ``ETag`` is of what was set.
         *
         *     Needs the permission `scheduler.quota.read` at the project.
         */
        get: operations["project_quota_read"];
        /**
         * Set a project's quota
         * @description Replace everything that a project is allowed.
         *
         *     Needs the permission `scheduler.project_quota.set` at the project.
         */
        put: operations["project_quota_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/quota/rebalance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring a project back inside its quota
         * @description End the cheapest leases that a project holds above its quota.
         *
         *     Needs the permission `scheduler.project_quota.set` at the project.
         */
        post: operations["project_quota_rebalance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/projects/{project}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a project's fair share
         * @description What a project weighs among its tenant's, and what it used of late.
         *
         *     Needs the permission `scheduler.quota.read` at the project.
         */
        get: operations["project_share_read"];
        /**
         * Set a project's fair share
         * @description Weigh a project among its tenant's; against other tenants that changes nothing.
         *
         *     Needs the permission `scheduler.project_quota.set` at the project.
         */
        put: operations["project_share_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/quota": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tenant's quota
         * @description What a tenant is allowed, and how that stands; the ``ETag`` is of what was set.
         *
         *     Needs the permission `scheduler.quota.read` at the tenant.
         */
        get: operations["tenant_quota_read"];
        /**
         * Set a tenant's quota
         * @description Replace everything that a tenant is allowed.
         *
         *     Needs the permission `scheduler.quota.set` at the tenant.
         */
        put: operations["tenant_quota_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/quota/rebalance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring a tenant back inside its quota
         * @description End the cheapest leases that a tenant holds above its quota.
         *
         *     Needs the permission `scheduler.quota.set` at the tenant.
         */
        post: operations["tenant_quota_rebalance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/rates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Withdraw a tenant's own rates
         * @description The list prices apply to the tenant again.
         *
         *     Needs the permission `billing.rate_card.set` over the fleet.
         */
        delete: operations["rates_withdraw"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List journal records
         * @description A tenant's own records in the order of the journal; ``next`` is null at its end.
         *
         *     Needs the permission `journal.record.read` at the tenant.
         */
        get: operations["record_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/records/{seq}/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prove a journal record
         * @description One of a tenant's records, with what proves that the journal has it.
         *
         *     Needs the permission `journal.record.read` at the tenant.
         */
        get: operations["record_prove"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtime-plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show who would pay for what of a shared runtime
         * @description Who would pay for what. A creation has to accept the digest of just this.
         *
         *     Needs the permission `scheduler.shared_runtime.manage` at the tenant.
         */
        post: operations["shared_runtime_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a tenant's shared runtimes
         * @description The shared runtimes of a tenant, by name.
         *
         *     Needs the permission `scheduler.shared_runtime.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["shared_runtime_list"];
        put?: never;
        /**
         * Create a shared runtime
         * @description Share an app between projects of a tenant; nobody is attached to it yet.
         *
         *     Refused with ``shared_runtime_refused`` and the word for it, as without the digest of the plan.
         *
         *     Needs the permission `scheduler.shared_runtime.manage` at the tenant.
         */
        post: operations["shared_runtime_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a shared runtime
         * @description A runtime; of its parts, workers and policies those that the caller may read.
         *
         *     Each names the number of the record that it follows from.
         *
         *     Needs the permission `scheduler.shared_runtime.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["shared_runtime_read"];
        put?: never;
        post?: never;
        /**
         * Delete a shared runtime
         * @description Have a runtime go: every project is detached and has its workers back first.
         *
         *     Needs the permission `scheduler.shared_runtime.manage` at the tenant.
         */
        delete: operations["shared_runtime_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/attachments/{project}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Allow a project to be attached
         * @description Consent for the tenant; the project is attached once it accepts too.
         *
         *     Needs the permission `scheduler.shared_runtime.manage` at the tenant.
         */
        put: operations["shared_attachment_allow"];
        post?: never;
        /**
         * Detach a project
         * @description Detach a project, for the tenant; its workers go back within the time agreed.
         *
         *     Needs the permission `scheduler.shared_runtime.manage` at the tenant.
         */
        delete: operations["shared_attachment_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/attachments/{project}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that nothing of a detached project is left
         * @description Say, for the runtime's operator, that nothing of a project is left inside.
         *
         *     Needs the permission `scheduler.instance.update` at the tenant.
         */
        post: operations["shared_attachment_finish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/credential-uses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Note that a runtime's credential was used
         * @description Seal that a credential of the runtime was used, before it is.
         *
         *     Needs the permission `scheduler.instance.update` at the tenant.
         */
        post: operations["shared_runtime_note_use"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/operator-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a token for a runtime's operator
         * @description Make a token for the program that looks after a runtime, shown this once.
         *
         *     It reads this runtime and acts on the instance behind it, and does nothing else anywhere.
         *
         *     Needs the permission `scheduler.shared_runtime.manage` at the tenant.
         */
        post: operations["shared_runtime_operator_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/placements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List where members of a runtime are, and why
         * @description Where each member is, whose lease it has, and the records that decided it.
         *
         *     Needs the permission `scheduler.shared_runtime.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["shared_worker_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/attachment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Accept to be attached
         * @description Consent for the project: by somebody of that very project, and another person.
         *
         *     Needs the permission `scheduler.shared_runtime.join` at the project.
         */
        put: operations["shared_attachment_accept"];
        post?: never;
        /**
         * Leave a shared runtime
         * @description End the project's part; its workers come back within the time agreed.
         *
         *     Needs the permission `scheduler.shared_runtime.join` at the project.
         */
        delete: operations["shared_attachment_leave"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/calls/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a shared runtime to drop work
         * @description Ask a shared runtime to drop work of the project.
         *
         *     Needs the permission `scheduler.queue.cancel` at the project.
         */
        post: operations["shared_queue_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/calls/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a shared runtime about a project's work
         * @description Ask a shared runtime about the project's own work.
         *
         *     Needs the permission `scheduler.queue.read` at the project.
         */
        post: operations["shared_queue_read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/calls/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a shared runtime to take work
         * @description Ask a shared runtime, for a project that has a part, to take work; wait for what it says.
         *
         *     Refused with ``shared_runtime_refused`` and the word for it: ``not_attached``, ``no_policy``.
         *
         *     Needs the permission `scheduler.queue.submit` at the project.
         */
        post: operations["shared_queue_submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/may-submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask where one may submit
         * @description Whether the caller, as of this project, may submit to a queue of another or his own.
         *
         *     Needs the permission `scheduler.queue.submit` at the project.
         */
        post: operations["submit_policy_ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/policies/{policy}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Let others use a queue
         * @description Let a project or a person use a queue of the project, until a time.
         *
         *     Needs the permission `scheduler.shared_runtime.join` at the project.
         */
        put: operations["submit_policy_set"];
        post?: never;
        /**
         * Let others use a queue no more
         * @description Let them use it no more.
         *
         *     Needs the permission `scheduler.shared_runtime.join` at the project.
         */
        delete: operations["submit_policy_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/projects/{project}/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Contribute, drain or withdraw a worker
         * @description Contribute, drain or withdraw a worker; under the same ``Idempotency-Key`` once.
         *
         *     Needs the permission `scheduler.shared_runtime.join` at the project.
         */
        post: operations["shared_worker_change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/settlement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Settle use of workers between projects
         * @description Have use of another's workers settled so, from now on; without rates, no more.
         *
         *     Needs the permission `scheduler.shared_runtime.manage` at the tenant.
         */
        put: operations["shared_settlement_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/settlement-plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show the rule by which use would be settled
         * @description The rule by which use would be settled. To settle has to accept the digest of just this.
         *
         *     Needs the permission `scheduler.shared_runtime.manage` at the tenant.
         */
        post: operations["shared_settlement_plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/runtimes/{runtime}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read who used what on whose workers of a runtime
         * @description Who used what on whose workers in a period; each row names the records that tell it.
         *
         *     Of projects that the caller may not read, only what is between them and his.
         *
         *     Needs the permission `scheduler.shared_runtime.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["shared_use_read"];
        put?: never;
        /**
         * Tell who used what on whose workers of a runtime
         * @description Tell, for the runtime's operator, all that was used in a time that is over.
         *
         *     The same again does nothing; another word about a time that was told is refused.
         *
         *     Needs the permission `scheduler.instance.update` at the tenant.
         */
        post: operations["shared_use_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tenant's fair share
         * @description What a tenant weighs among tenants, and what it used of late.
         *
         *     Needs the permission `scheduler.quota.read` at the tenant.
         */
        get: operations["tenant_share_read"];
        /**
         * Set a tenant's fair share
         * @description Weigh a tenant among tenants; the order of the queue follows at once.
         *
         *     Needs the permission `scheduler.quota.set` at the tenant.
         */
        put: operations["tenant_share_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tenants/{tenant}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a tenant's usage
         * @description What a tenant used in a period, by project, tag, generation and class, and its cost.
         *
         *     Needs the permission `metering.usage.read` somewhere in the tenant; what lies where you lack it is not shown.
         */
        get: operations["usage_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens
         * @description The tokens that the caller could revoke, without what would let anybody use them.
         *
         *     Needs the permission `iam.token.revoke` at some scope; what lies where you lack it is not shown.
         */
        get: operations["token_list"];
        put?: never;
        /**
         * Issue a token or a login code
         * @description Make a token, shown this once. With ``single_use`` it is a one-time login code.
         *
         *     Needs the permission `iam.token.issue` everywhere that the token's owner has a role.
         */
        post: operations["token_issue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description Revoke a token: whoever shows it is no longer let in.
         *
         *     Needs the permission `iam.token.revoke` everywhere that the token's owner has a role.
         */
        delete: operations["token_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/traces/{correlation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the trace of a request
         * @description Request, decision, events, spans and log lines under one correlation id, by time.
         *
         *     Needs the permission `telemetry.trace.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["trace_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the fleet's usage
         * @description What of every kind and generation was leased, idle and unavailable, by cause.
         *
         *     Needs the permission `metering.usage.read` over the fleet.
         */
        get: operations["usage_fleet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch the journal
         * @description The records that the caller may read, as they are made.
         *
         *     Needs the permission `journal.record.read` at some scope; what lies where you lack it is not shown.
         */
        get: operations["record_watch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks
         * @description The webhooks that the caller manages; their secrets are told to nobody again.
         *
         *     Needs the permission `scheduler.webhook.manage` at some scope; what lies where you lack it is not shown.
         */
        get: operations["webhook_list"];
        /**
         * Set a webhook
         * @description Have events of a tenant or project sent to an address, signed as Standard Webhooks says.
         *
         *     A new webhook is told its secret, once. It is sent what happens from then on.
         *
         *     Needs the permission `scheduler.webhook.manage` at the scope that the body names.
         */
        put: operations["webhook_set"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete a webhook
         * @description End a webhook. What it was not sent yet is not sent.
         *
         *     Needs the permission `scheduler.webhook.manage` at the scope that the body names.
         */
        post: operations["webhook_delete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List what became of events
         * @description What became of events on their way to a webhook, the newest first; dead letters too.
         *
         *     Needs the permission `scheduler.webhook.manage` at the scope that the body names.
         */
        post: operations["webhook_deliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send events again
         * @description Send one event again, or all dead letters, under the same ids as before.
         *
         *     Needs the permission `scheduler.webhook.manage` at the scope that the body names.
         */
        post: operations["webhook_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a webhook's secret
         * @description Replace a webhook's secret. For a day messages are signed with both.
         *
         *     Needs the permission `scheduler.webhook.manage` at the scope that the body names.
         */
        post: operations["webhook_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read who you are
         * @description Who asks, with which roles, and until when its token counts.
         *
         *     Needs a login, and no permission.
         */
        get: operations["self_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/words": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the sentences for closed words
         * @description What each closed word says, as the command line says it too.
         */
        get: operations["words_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AcceptedSettlement
         * @description The same, with the digest of the rule that was accepted.
         */
        AcceptedSettlement: {
            /** Accepted Digest */
            accepted_digest: string;
            /** Rates */
            rates?: {
                [key: string]: number;
            };
        };
        /**
         * AccountChange
         * @description Whether a service account is to be enabled.
         */
        AccountChange: {
            /** Is Enabled */
            is_enabled: boolean;
        };
        /**
         * Amounts
         * @description What was used, by how many leases, and what that costs.
         */
        Amounts: {
            /** Block Mib Seconds */
            block_mib_seconds: number;
            /** Cost Micros */
            cost_micros: number;
            /** Cpu Milli Seconds */
            cpu_milli_seconds: number;
            /** Gpu Micro Seconds */
            gpu_micro_seconds: number;
            /** Leases */
            leases: number;
            /** Mem Mib Seconds */
            mem_mib_seconds: number;
            /** Running */
            running: number;
        };
        /**
         * App
         * @description An app of the catalog; ``revision`` is also its ``ETag``.
         */
        App: {
            /** App */
            app: string;
            lifecycle: components["schemas"]["AppLifecycle"];
            /** Newest */
            newest: string;
            /** Revision */
            revision: number;
            /** Tenant */
            tenant: string | null;
            /** Title */
            title: string;
            /** Versions */
            versions: number;
            visibility: components["schemas"]["AppVisibility"];
        };
        /**
         * AppChange
         * @description What to change of an app; what is left out stays.
         */
        AppChange: {
            lifecycle?: components["schemas"]["AppLifecycle"] | null;
            visibility?: components["schemas"]["AppVisibility"] | null;
        };
        /**
         * AppCheck
         * @description What a check of a version found, as it is sealed.
         */
        AppCheck: {
            /** Checked Ms */
            checked_ms: number;
            /** Conditions */
            conditions: components["schemas"]["ConditionFinding"][];
            /** Evidence Digest */
            evidence_digest: string;
            verdict: components["schemas"]["Readiness"];
        };
        /**
         * AppLifecycle
         * @description How far an app, or one version of it, has come.
         * @enum {string}
         */
        AppLifecycle: "draft" | "published" | "deprecated" | "retired";
        /**
         * AppVersion
         * @description One version of an app.
         */
        AppVersion: {
            /** App */
            app: string;
            check: components["schemas"]["AppCheck"] | null;
            /** Digest */
            digest: string;
            /** Host Asked */
            host_asked: boolean;
            /** Host Granted */
            host_granted: boolean;
            lifecycle: components["schemas"]["AppLifecycle"];
            /** Published Ms */
            published_ms: number;
            /** Version */
            version: string;
        };
        /**
         * AppVersionChange
         * @description How far a version is to have come.
         */
        AppVersionChange: {
            lifecycle: components["schemas"]["AppLifecycle"];
        };
        /**
         * AppVersionDetail
         * @description A version with its manifest in canonical form, whose SHA-256 is the digest.
         */
        AppVersionDetail: {
            /** App */
            app: string;
            check: components["schemas"]["AppCheck"] | null;
            /** Digest */
            digest: string;
            /** Host Asked */
            host_asked: boolean;
            /** Host Granted */
            host_granted: boolean;
            lifecycle: components["schemas"]["AppLifecycle"];
            /** Manifest */
            manifest: string;
            /** Published Ms */
            published_ms: number;
            /** Version */
            version: string;
        };
        /**
         * AppVisibility
         * @description Who sees an app in the catalog: everybody, or only those who published it.
         * @enum {string}
         */
        AppVisibility: "public" | "private";
        /**
         * Artifact
         * @description What is known of some bytes.
         */
        Artifact: {
            channel: components["schemas"]["Channel"];
            /** Digest */
            digest: string;
            kind: components["schemas"]["ArtifactKind"];
            lifecycle: components["schemas"]["ArtifactLifecycle"];
            /** Project */
            project: string | null;
            /** Revision */
            revision: number;
            /** Source */
            source: string;
            /** Tenant */
            tenant: string | null;
            trust: components["schemas"]["ArtifactTrust"];
        };
        /**
         * ArtifactChange
         * @description What to change of an artifact; what is left out stays.
         */
        ArtifactChange: {
            channel?: components["schemas"]["Channel"] | null;
            /** Digest */
            digest: string;
            lifecycle?: components["schemas"]["ArtifactLifecycle"] | null;
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant?: string | null;
            trust?: components["schemas"]["ArtifactTrust"] | null;
        };
        /**
         * ArtifactFetched
         * @description An artifact that the server keeps: all its parts, itself first.
         */
        ArtifactFetched: {
            /** Digest */
            digest: string;
            /** Is Done */
            is_done: boolean;
            /** Parts */
            parts?: string[];
            /**
             * Size Bytes
             * @default 0
             */
            size_bytes?: number;
        };
        /**
         * ArtifactKind
         * @description How an artifact is stored.
         * @enum {string}
         */
        ArtifactKind: "oci" | "blob";
        /**
         * ArtifactLifecycle
         * @description How far an artifact has come.
         * @enum {string}
         */
        ArtifactLifecycle: "published" | "promoted" | "deprecated" | "retired";
        /**
         * ArtifactPlace
         * @description An artifact, and where it is registered.
         */
        ArtifactPlace: {
            /** Digest */
            digest: string;
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * ArtifactQuestion
         * @description Whether what a version is made of may be used there.
         */
        ArtifactQuestion: {
            /** App */
            app: string;
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant: string;
            /** Version */
            version: string;
        };
        /**
         * ArtifactRefusal
         * @description Why an artifact is not used, in the order in which it is asked.
         * @enum {string}
         */
        ArtifactRefusal: "not_registered" | "kind_differs" | "source_differs" | "source_unknown" | "source_not_allowed" | "channel_not_allowed" | "retired" | "not_verified";
        /**
         * ArtifactResolution
         * @description Whether one artifact of a version may be used, and everything that was asked.
         */
        ArtifactResolution: {
            /** Digest */
            digest: string;
            /** Is Usable */
            is_usable: boolean;
            /** Name */
            name: string;
            reason: components["schemas"]["ArtifactRefusal"] | null;
            /** Steps */
            steps: components["schemas"]["ArtifactStep"][];
        };
        /**
         * ArtifactResolutions
         * @description The same for every artifact of a version.
         */
        ArtifactResolutions: {
            /** App */
            app: string;
            /** Artifacts */
            artifacts: components["schemas"]["ArtifactResolution"][];
            /** Is Usable */
            is_usable: boolean;
            /** Version */
            version: string;
        };
        /**
         * ArtifactSource
         * @description Where artifacts come from: everybody's, or a tenant's own.
         */
        ArtifactSource: {
            /** Address */
            address: string;
            /** Is Allowed */
            is_allowed: boolean;
            /** Keys */
            keys: string[];
            kind: components["schemas"]["ArtifactKind"];
            /** Source */
            source: string;
            /** Tenant */
            tenant: string | null;
            tier: components["schemas"]["SourceTier"];
        };
        /**
         * ArtifactSourceChange
         * @description A source as it is to be from now on; without a tenant it is everybody's.
         */
        ArtifactSourceChange: {
            /** Address */
            address: string;
            /**
             * Is Allowed
             * @default true
             */
            is_allowed?: boolean;
            /** Keys */
            keys?: string[];
            kind: components["schemas"]["ArtifactKind"];
            /** Source */
            source: string;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * ArtifactStep
         * @description One thing that was asked of an artifact, and what was found.
         */
        ArtifactStep: {
            asked: components["schemas"]["ArtifactRefusal"];
            /** Found */
            found: string;
            /** Holds */
            holds: boolean;
        };
        /**
         * ArtifactTrust
         * @description What is known of an artifact's origin.
         * @enum {string}
         */
        ArtifactTrust: "unverified" | "verified" | "failed_verification" | "revoked";
        /**
         * ArtifactVerdict
         * @description What was found of an artifact's bytes, and by which key it is trusted.
         */
        ArtifactVerdict: {
            /** Digest */
            digest: string;
            /** Is Done */
            is_done: boolean;
            /** Key */
            key?: string | null;
            /** Parts */
            parts?: string[];
            reason?: components["schemas"]["VerificationReason"] | null;
            /**
             * Size Bytes
             * @default 0
             */
            size_bytes?: number;
            trust?: components["schemas"]["ArtifactTrust"] | null;
        };
        /**
         * Asked
         * @description What was asked for, of each member: amounts, on which terms, and for how long.
         */
        Asked: {
            /** Block Bytes */
            block_bytes: number;
            /** Cpu Milli */
            cpu_milli: number;
            /** Gang Size */
            gang_size: number;
            /** Gpu Count */
            gpu_count: number;
            gpu_generation: components["schemas"]["HardwareGeneration"] | null;
            /** Gpu Milli */
            gpu_milli: number;
            lease_class: components["schemas"]["LeaseClass"];
            /** Mem Bytes */
            mem_bytes: number;
            priority: components["schemas"]["Priority"];
            /** Ttl Ms */
            ttl_ms: number;
        };
        /**
         * AskedEverywhere
         * @description The request is sealed under this number; it goes to a cell by itself.
         */
        AskedEverywhere: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            /** Global Id */
            global_id: number | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * AtOnce
         * @description What the scheduler would do as soon as the change counts.
         */
        AtOnce: {
            ends: components["schemas"]["TouchedOnes"];
            hopeless: components["schemas"]["TouchedOnes"];
            /** Looked */
            looked: number;
            /** Others End */
            others_end: number;
            starts: components["schemas"]["TouchedOnes"];
        };
        /**
         * AttachmentPhase
         * @description How far a project's part in a shared runtime has come.
         * @enum {string}
         */
        AttachmentPhase: "requested" | "attached" | "detaching" | "detached";
        /**
         * Attestation
         * @description A node's answer to its nonce: its own evidence, and that of its devices.
         */
        Attestation: {
            /** Nonce */
            nonce: string;
            /** Pieces */
            pieces: components["schemas"]["Piece"][];
        };
        /**
         * AttestationState
         * @description What is known of whether a node is the machine, and runs the software, that it should.
         * @enum {string}
         */
        AttestationState: "unattested" | "trusted" | "untrusted" | "stale" | "unsupported";
        /**
         * Attested
         * @description What became of an answer; ``refresh_ms`` is when the node will be asked again.
         */
        Attested: {
            /** Node */
            node: string;
            /** Refresh Ms */
            refresh_ms: number | null;
            state: components["schemas"]["AttestationState"];
            /** Verdicts */
            verdicts: components["schemas"]["KindVerdict"][];
        };
        /**
         * BookingMade
         * @description It is booked; or (dry run) which nodes would be kept.
         */
        BookingMade: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            consequence?: components["schemas"]["BookingOutlook"] | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * BookingOutlook
         * @description What a booking would keep.
         */
        BookingOutlook: {
            /** Gpu Count */
            gpu_count: number;
            /** Nodes */
            nodes: string[];
            /** Wait Ms */
            wait_ms: number;
            /** Waiting */
            waiting: number;
        };
        /**
         * BookingPhase
         * @description How far a booking has come; it follows from its times.
         * @enum {string}
         */
        BookingPhase: "planned" | "on";
        /**
         * BookingWish
         * @description What is kept: exactly one of nodes by name, how many (``count``), or how many ``gpus``.
         *
         *     Of a number, ``generation`` and ``labels`` say which nodes count. GPUs are summed over whole
         *     nodes, so that some more may be kept. A node of which the project holds no GPU (of one without
         *     any: nothing) for ``wait_ms`` while it is on is given back; 0 keeps it to the end, and without
         *     it the settings say.
         */
        BookingWish: {
            /**
             * Count
             * @default 0
             */
            count?: number;
            generation?: components["schemas"]["HardwareGeneration"] | null;
            /**
             * Gpus
             * @default 0
             */
            gpus?: number;
            /** Labels */
            labels?: string[];
            /** Nodes */
            nodes?: string[];
            /**
             * Text
             * @default
             */
            text?: string;
            /** Wait Ms */
            wait_ms?: number | null;
        };
        /**
         * BreakGlass
         * @description Why somebody needs all of his rights for a moment, and for whose sake; both are recorded.
         */
        BreakGlass: {
            /** Reason */
            reason: string;
            /** Tenant */
            tenant?: string | null;
            /**
             * Ttl S
             * @default 300
             */
            ttl_s?: number;
        };
        /**
         * BrowserSession
         * @description A browser's session; ``csrf`` is what changes must show as ``X-CSRF-Token``.
         */
        BrowserSession: {
            /** Csrf */
            csrf: string;
            /** Ends Ms */
            ends_ms: number;
            /** Expires Ms */
            expires_ms: number;
            /** Principal */
            principal: string;
        };
        /**
         * Budget
         * @description What may be spent from ``from_ms`` on (to ``until_ms``); over ``cap_micros`` work is ended.
         *
         *     ``thresholds`` are per mille of the limit, rising: each is told once when it is crossed.
         */
        Budget: {
            /** Cap Micros */
            cap_micros?: number | null;
            /**
             * From Ms
             * @default 0
             */
            from_ms?: number;
            /** Limit Micros */
            limit_micros: number;
            /** Thresholds */
            thresholds?: number[];
            /** Until Ms */
            until_ms?: number | null;
        };
        /**
         * BudgetConsequence
         * @description What another budget would do.
         */
        BudgetConsequence: {
            /** After Micros */
            after_micros: number | null;
            at_once: components["schemas"]["AtOnce"];
            /** Before Micros */
            before_micros: number | null;
            /** Currency */
            currency: string;
            /** Projected Micros */
            projected_micros: number | null;
            /** Spent Micros */
            spent_micros: number | null;
            state: components["schemas"]["BudgetState"] | null;
            /** Used Up Ms */
            used_up_ms: number | null;
        };
        /**
         * BudgetExhausted
         * @description The money set aside does not cover the request.
         */
        BudgetExhausted: {
            /** Budget Micros */
            budget_micros: number;
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "budget_exhausted";
            reason: components["schemas"]["PendingReason"];
            /** Requested Micros */
            requested_micros: number;
            /** Spent Micros */
            spent_micros: number;
        };
        /**
         * BudgetSet
         * @description A tenant or project has another budget; or (dry run) what that would do.
         *
         *     The consequence is null in a dry run too if it could not be tried.
         */
        BudgetSet: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            consequence?: components["schemas"]["BudgetConsequence"] | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * BudgetStanding
         * @description A budget, what is spent of it, and where that is heading.
         */
        BudgetStanding: {
            budget: components["schemas"]["Budget"];
            /** Crossed */
            crossed: number;
            /** Currency */
            currency: string;
            /** Left Micros */
            left_micros: number;
            /** Project */
            project: string | null;
            /** Projected Micros */
            projected_micros: number;
            /** Spent Micros */
            spent_micros: number;
            state: components["schemas"]["BudgetState"];
            /** Tenant */
            tenant: string;
        };
        /**
         * BudgetState
         * @description How a budget stands.
         * @enum {string}
         */
        BudgetState: "healthy" | "low_balance" | "auto_release_pending" | "depleted";
        /**
         * Burst
         * @description How long one may stay how far above the hard limit of one dimension.
         */
        Burst: {
            /** Capacity */
            capacity: number;
            /** Ceiling */
            ceiling: number;
            dimension: components["schemas"]["Dimension"];
            /** Refill Per S */
            refill_per_s: number;
        };
        /**
         * BurstCreditExhausted
         * @description Above the limit, and the credit for that would not last.
         */
        BurstCreditExhausted: {
            /** Credit */
            credit: number;
            /**
             * Credit Needed
             * @default 0
             */
            credit_needed?: number;
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "burst_credit_exhausted";
            dimension: components["schemas"]["Dimension"];
            /** Limit */
            limit: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
            /** Used */
            used: number;
        };
        /**
         * CacheCores
         * @description Cores under one last-level cache, and the memory node that they are in.
         */
        CacheCores: {
            /** Cores Milli */
            cores_milli: number;
            /**
             * Numa
             * @default 0
             */
            numa?: number;
        };
        /**
         * CacheShare
         * @description Cores of a lease under one cache of its node, by the cache's number there.
         */
        CacheShare: {
            /** Cache */
            cache: number;
            /** Cores Milli */
            cores_milli: number;
        };
        /**
         * CalendarWish
         * @description When windows come back, in plain words, and for which nodes: by name, or by labels.
         *
         *     ``ahead_days``: how far ahead windows are announced.
         */
        CalendarWish: {
            /**
             * Ahead Days
             * @default 28
             */
            ahead_days?: number;
            /** Labels */
            labels?: string[];
            /**
             * Lead Ms
             * @default 900000
             */
            lead_ms?: number;
            /** Nodes */
            nodes?: string[];
            /** Rule */
            rule: string;
            /**
             * Text
             * @default
             */
            text?: string;
        };
        /**
         * CallDone
         * @description The call that was made; in a dry run none.
         */
        CallDone: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            call: components["schemas"]["InstanceCall"] | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * CallPart
         * @description For which project a shared runtime is asked, and whose queue is meant.
         */
        CallPart: {
            /** Owner */
            owner: string;
            /** Project */
            project: string;
            /** Queue */
            queue: string | null;
        };
        /**
         * CallPhase
         * @description How far a call of an instance has come.
         * @enum {string}
         */
        CallPhase: "open" | "taken" | "answered" | "unanswered";
        /**
         * CallReply
         * @description What an instance's operator says to a call: how a program would end, and what it wrote.
         */
        CallReply: {
            /** Exit Code */
            exit_code: number;
            /**
             * Is Truncated
             * @default false
             */
            is_truncated?: boolean;
            /**
             * Stderr
             * @default
             */
            stderr?: string;
            /**
             * Stdout
             * @default
             */
            stdout?: string;
        };
        /**
         * CallTaken
         * @description The question that was taken, if there was one.
         */
        CallTaken: {
            call: components["schemas"]["TakenCall"] | null;
        };
        /**
         * CallVerb
         * @description What somebody wants of an instance; each has its own permission key.
         * @enum {string}
         */
        CallVerb: "submit" | "read" | "cancel";
        /**
         * CallWait
         * @description How long to wait for a question.
         */
        CallWait: {
            /**
             * Wait S
             * @default 0
             */
            wait_s?: number;
        };
        /**
         * CapabilityKeys
         * @description The public keys under which lease tokens are believed, as ``ed25519/HEX``.
         *
         *     A node in ``nodes`` is believed under its own keys alone, any other under the shared ones.
         */
        CapabilityKeys: {
            /** Nodes */
            nodes: {
                [key: string]: string[];
            };
            /** Shared */
            shared: string[];
        };
        /**
         * Ceiling
         * @description What may be asked for: the highest priority, the classes, the longest term, how many wait.
         */
        Ceiling: {
            /** Lease Classes */
            lease_classes: components["schemas"]["LeaseClass"][];
            priority_max: components["schemas"]["Priority"];
            /** Term Max Ms */
            term_max_ms: number;
            /** Waiting Max */
            waiting_max: number;
        };
        /**
         * CellJoin
         * @description A plane that is to be a cell of this one, and where it is reached.
         */
        CellJoin: {
            /** Cell */
            cell: string;
            /** Url */
            url: string;
        };
        /**
         * CellLeave
         * @description How a cell is parted with; ``lost``: whatever it had, nobody waits for its word.
         */
        CellLeave: {
            /**
             * Lost
             * @default false
             */
            lost?: boolean;
        };
        /**
         * CellOffer
         * @description What a cell could do for a request; nothing is held for it.
         */
        CellOffer: {
            /** Offer */
            offer: components["schemas"]["OfferStart"] | components["schemas"]["OfferRoom"] | components["schemas"]["OfferWait"] | components["schemas"]["OfferNone"];
        };
        /**
         * CellShown
         * @description A cell, as its home knows it.
         *
         *     ``heard_ms`` is when the leader last had a reply, and ``trouble`` why it has none now; a leader
         *     that has just begun knows neither.
         */
        CellShown: {
            /** Cell */
            cell: string;
            /** Epoch */
            epoch: number;
            /** Free Cpu Milli */
            free_cpu_milli: number | null;
            /** Free Gpu Milli */
            free_gpu_milli: number | null;
            /** Heard Ms */
            heard_ms: number | null;
            /** Requests */
            requests: number;
            standing: components["schemas"]["CellStanding"];
            /** Trouble */
            trouble: string | null;
            /** Url */
            url: string;
        };
        /**
         * CellStanding
         * @description Whether the home can reach a cell.
         * @enum {string}
         */
        CellStanding: "reachable" | "cut_off";
        /**
         * Changed
         * @description What may have become old for who asked: nouns alone.
         *
         *     With `missed` the place that was gone on from is not known any more: all may be old.
         */
        Changed: {
            /**
             * Missed
             * @default false
             */
            missed?: boolean;
            /** Nouns */
            nouns: ("accounts" | "apps" | "bookings" | "budgets" | "findings" | "graphs" | "instances" | "invoices" | "isolation" | "jobs" | "leases" | "maintenance" | "members" | "nodes" | "queue" | "quota" | "rates" | "records" | "runtimes" | "settings" | "tenants" | "usage")[];
        };
        /** @description One event of `GET /v1/changes`. A comment (`: beat`) is none. */
        ChangeEvent: components["schemas"]["ChangeTold"] | components["schemas"]["WatchEnd"];
        /** @description What may have become old; `data` says it as JSON. */
        ChangeTold: {
            data: string;
            /** @constant */
            event: "change";
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /**
         * Channel
         * @description How far towards production an artifact was promoted.
         * @enum {string}
         */
        Channel: "dev" | "test" | "staging" | "prod";
        /**
         * ClosingRule
         * @description A rule of the isolation policy, and how many nodes it closes to a request now.
         */
        ClosingRule: {
            /** Nodes */
            nodes: number;
            /** Rule */
            rule: string;
        };
        /**
         * CloudEvent
         * @description One event as CloudEvents 1.0 spells it; what has no value is left out.
         *
         *     ``data`` has the fields of the record, and the names ``correlation_id``, ``org_id``,
         *     ``project_id``, ``app_slug`` and ``app_instance_id``. CloudEvents lets attributes have only
         *     small letters and digits, so as attributes these have no underscore.
         */
        CloudEvent: {
            /** Appinstanceid */
            appinstanceid?: string | null;
            /** Appslug */
            appslug?: string | null;
            /** Correlationid */
            correlationid: string;
            /** Data */
            data: {
                [key: string]: unknown;
            };
            /** Datacontenttype */
            datacontenttype: string;
            /** Id */
            id: string;
            /** Orgid */
            orgid?: string | null;
            /** Projectid */
            projectid?: string | null;
            /** Source */
            source: string;
            /**
             * Specversion
             * @constant
             */
            specversion: "1.0";
            /** Subject */
            subject: string;
            /** Time */
            time?: string | null;
            /** Type */
            type: string;
        };
        /**
         * ClusterState
         * @description A cluster on which jobs run, as this process last found it.
         */
        ClusterState: {
            /** Answered Ms */
            answered_ms: number | null;
            /** Asked Ms */
            asked_ms: number | null;
            /** Cluster */
            cluster: string;
            /** Nodes */
            nodes: number;
            /**
             * State
             * @enum {string}
             */
            state: "not_asked" | "reachable" | "unreachable";
            /** Trouble */
            trouble: string;
        };
        /**
         * ConditionFinding
         * @description How one condition stands, why, and the numbers that led to it.
         */
        ConditionFinding: {
            condition: components["schemas"]["ReadinessCondition"];
            /** Numbers */
            numbers: {
                [key: string]: number;
            };
            reason: components["schemas"]["ReadinessReason"];
            state: components["schemas"]["ConditionState"];
        };
        /**
         * ConditionState
         * @description How a condition stands after a check.
         * @enum {string}
         */
        ConditionState: "met" | "not_met" | "not_tried";
        /**
         * ContributedPrice
         * @description What one worker of a role would cost the project that contributes it.
         */
        ContributedPrice: {
            /** Is Upper Bound */
            is_upper_bound: boolean;
            /** Micros Per Hour */
            micros_per_hour: number;
            /** Role */
            role: string;
        };
        /**
         * ContributionPhase
         * @description How far a contributed worker has come, as its project is told.
         * @enum {string}
         */
        ContributionPhase: "contributed" | "draining" | "ended";
        /**
         * ControlPlaneScope
         * @description Whom one control plane serves.
         * @enum {string}
         */
        ControlPlaneScope: "project" | "tenant" | "platform";
        /**
         * CopyDirection
         * @description Which way files are copied: into a job, or out of it.
         * @enum {string}
         */
        CopyDirection: "in" | "out";
        /**
         * Correction
         * @description Whether an invoice still agrees with the journal; if not, the correction that makes it.
         */
        Correction: {
            correction: components["schemas"]["Invoice"] | null;
            /**
             * Outcome
             * @enum {string}
             */
            outcome: "agreed" | "corrected";
        };
        /**
         * CostCapExceeded
         * @description With this request the projected cost would pass a hard cap.
         */
        CostCapExceeded: {
            /** Cap Micros */
            cap_micros: number;
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "cost_cap_exceeded";
            /** Projected Micros */
            projected_micros: number;
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * CounterEvent
         * @description All that was counted for one lease since its work began, as event ``sequence``.
         *
         *     ``to_ms`` is told once nothing more can follow. What cannot be counted is left out.
         */
        CounterEvent: {
            /** At Ms */
            at_ms: number;
            /** Cpu Ms */
            cpu_ms?: number | null;
            /** From Ms */
            from_ms: number;
            /** Gpu Ms */
            gpu_ms?: number | null;
            /** Gpus */
            gpus?: components["schemas"]["GpuCount"][];
            /** Lease Id */
            lease_id: number;
            /** Mem Peak Bytes */
            mem_peak_bytes?: number | null;
            /** Sequence */
            sequence: number;
            /** To Ms */
            to_ms?: number | null;
        };
        /**
         * CounterReport
         * @description Some events of a node's numbering ``epoch``, which begins at 0 and has no gap.
         */
        CounterReport: {
            /** Counters */
            counters: components["schemas"]["CounterEvent"][];
            /** Epoch */
            epoch: number;
        };
        /**
         * CountersTaken
         * @description How far the node may forget: every event of this epoch below ``acknowledged`` is kept.
         *
         *     An epoch above the one that was sent: another numbering counts, so begin a newer one.
         */
        CountersTaken: {
            /** Acknowledged */
            acknowledged: number;
            /** Epoch */
            epoch: number;
            /** Node */
            node: string;
        };
        /**
         * CredentialUse
         * @description That a credential of a runtime was used, and what for; never the credential.
         */
        CredentialUse: {
            /** Credential */
            credential: string;
            /** Purpose */
            purpose: string;
        };
        /**
         * CustomRole
         * @description A role: what it holds, and at which level it is handed out.
         */
        CustomRole: {
            /** Is Builtin */
            is_builtin: boolean;
            /** Keys */
            keys: ("scheduler.catalog.read" | "scheduler.instance.read" | "scheduler.instance.create" | "scheduler.instance.update" | "scheduler.instance.delete" | "scheduler.queue.submit" | "scheduler.queue.read" | "scheduler.queue.cancel" | "scheduler.node.read" | "scheduler.node.operate" | "scheduler.node.report" | "scheduler.job.exec" | "scheduler.endpoint.open" | "scheduler.lease.read" | "scheduler.lease.hold" | "scheduler.lease.evict" | "scheduler.quota.read" | "scheduler.quota.set" | "scheduler.project_quota.set" | "scheduler.booking.read" | "scheduler.booking.manage" | "scheduler.settings.read" | "scheduler.settings.set" | "scheduler.isolation.read" | "scheduler.isolation.set" | "scheduler.catalog.publish" | "scheduler.entitlement.set" | "scheduler.artifact.manage" | "scheduler.webhook.manage" | "scheduler.shared_runtime.read" | "scheduler.shared_runtime.manage" | "scheduler.shared_runtime.join" | "scheduler.host_privilege.grant" | "scheduler.cell.read" | "scheduler.cell.operate" | "scheduler.cell.home" | "iam.tenant.read" | "iam.tenant.manage" | "iam.project.manage" | "iam.role.manage" | "iam.member.read" | "iam.member.manage" | "iam.service_account.read" | "iam.service_account.manage" | "iam.token.issue" | "iam.token.revoke" | "journal.record.read" | "metering.usage.read" | "metering.finding.report" | "billing.rate_card.read" | "billing.rate_card.set" | "billing.budget.read" | "billing.budget.set" | "billing.project_budget.set" | "billing.invoice.read" | "billing.invoice.issue" | "telemetry.metrics.read" | "telemetry.trace.read" | "iam.break_glass.use")[];
            /**
             * Level
             * @enum {string}
             */
            level: "fleet" | "tenant" | "project";
            /** Revision */
            revision: number;
            /** Role */
            role: string;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * DeadlinePassed
         * @description The request's own deadline is behind us.
         */
        DeadlinePassed: {
            /** Deadline Ms */
            deadline_ms: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "deadline_passed";
            /** Now Ms */
            now_ms: number;
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * Decision
         * @description One decision of the past, and where in the journal it stands.
         */
        Decision: {
            /** At Ms */
            at_ms: number;
            /** Correlation Id */
            correlation_id: string | null;
            /** Detail */
            detail: string | null;
            /** Entry Id */
            entry_id: number | null;
            /** Kind */
            kind: string;
            /** Lease Id */
            lease_id: number | null;
            /** Project */
            project: string | null;
            /** Reason */
            reason: string | null;
            /** Seq */
            seq: number;
        };
        /**
         * Deliveries
         * @description Some of a webhook's deliveries; ``next`` is the ``before`` of what follows.
         */
        Deliveries: {
            /** Items */
            items: components["schemas"]["Delivery"][];
            /** Next */
            next: number | null;
        };
        /**
         * Delivery
         * @description What became of one event on its way to a webhook.
         */
        Delivery: {
            /** At Ms */
            at_ms: number;
            fault: components["schemas"]["DeliveryFault"] | null;
            /** Id */
            id: number;
            /** Next Try Ms */
            next_try_ms: number | null;
            state: components["schemas"]["DeliveryState"];
            /** Status */
            status: number | null;
            /** Tries */
            tries: number;
        };
        /**
         * DeliveryFault
         * @description Why an event did not reach a webhook.
         * @enum {string}
         */
        DeliveryFault: "address_not_allowed" | "no_address" | "no_connection" | "certificate" | "timeout" | "redirected" | "status" | "gone";
        /**
         * DeliveryState
         * @description What became of an event on its way to a webhook.
         * @enum {string}
         */
        DeliveryState: "delivered" | "retrying" | "replaying" | "dead";
        /**
         * DeviceAnswer
         * @description The session, once there is one; until then, how long to wait before asking again.
         */
        DeviceAnswer: {
            /** Is Hasty */
            is_hasty: boolean;
            session: components["schemas"]["IssuedToken"] | null;
        };
        /**
         * DeviceLogin
         * @description A login that a person ends elsewhere: where, with which code, and what to ask with.
         */
        DeviceLogin: {
            /** Device */
            device: string;
            /** Expires S */
            expires_s: number;
            /** Interval S */
            interval_s: number;
            /** User Code */
            user_code: string;
            /** Verification Uri */
            verification_uri: string;
            /** Verification Uri Complete */
            verification_uri_complete: string | null;
        };
        /**
         * DeviceQuestion
         * @description Whether somebody has ended a login elsewhere.
         */
        DeviceQuestion: {
            /** Device */
            device: string;
            /**
             * Ttl S
             * @default 3600
             */
            ttl_s?: number;
        };
        /**
         * Dimension
         * @description What a quota can limit.
         * @enum {string}
         */
        Dimension: "cpu_milli" | "mem_bytes" | "block_bytes" | "gpu_count" | "gpu_vram" | "lease_count";
        /**
         * DomainKind
         * @description What work can share, from the narrowest to the widest.
         * @enum {string}
         */
        DomainKind: "cache" | "numa" | "fabric" | "host" | "rack" | "segment" | "region";
        /**
         * DomainScrub
         * @description A domain of which somebody made sure that nothing of those who left is in it.
         */
        DomainScrub: {
            /** Domain */
            domain: string;
            kind: components["schemas"]["DomainKind"];
        };
        /**
         * Done
         * @description It took effect with record number ``seq``; ``null`` if it was a dry run or nothing to do.
         */
        Done: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            /** Seq */
            seq: number | null;
        };
        /**
         * EdgeCode
         * @description What only the server itself says; every other code is an ``ErrorCode``.
         * @enum {string}
         */
        EdgeCode: "malformed" | "unauthenticated" | "forbidden" | "method_not_allowed" | "too_large" | "precondition_required" | "rate_limited" | "refused";
        /**
         * EffectiveLine
         * @description One line of what counts, and from where it comes.
         */
        EffectiveLine: {
            /** Rule */
            rule: string;
            /** Sources */
            sources: string[];
            /** Values */
            values: string[] | null;
            /** What */
            what: string;
        };
        /**
         * EffectivePolicy
         * @description What the lines of the fleet, the tenant and the project say together.
         */
        EffectivePolicy: {
            /** App */
            app: string;
            /** Host Granted */
            host_granted: string[];
            /** Is Enabled */
            is_enabled: boolean;
            /** Lines */
            lines: components["schemas"]["EffectiveLine"][];
            /** Project */
            project: string | null;
            /** Revision */
            revision: number;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * Enrolled
         * @description A node has keys of that kind; ``identity`` is the digest of what cannot be copied with it.
         */
        Enrolled: {
            /** Identity */
            identity: string;
            kind: components["schemas"]["EvidenceKind"];
            /** Node */
            node: string;
            /** Seq */
            seq: number | null;
        };
        /**
         * EnrolmentChallenge
         * @description What only the holder of those keys can answer, and until when; empty in a dry run.
         */
        EnrolmentChallenge: {
            /** Enrolment Id */
            enrolment_id: string;
            /** Expires Ms */
            expires_ms: number;
            /** Parts */
            parts: {
                [key: string]: string;
            };
        };
        /**
         * EnrolmentOffer
         * @description The keys by which a node wants to be known, of one kind.
         */
        EnrolmentOffer: {
            kind: components["schemas"]["EvidenceKind"];
            /** Parts */
            parts: {
                [key: string]: string;
            };
        };
        /**
         * EnrolmentProof
         * @description The answer to a challenge; each is asked once.
         */
        EnrolmentProof: {
            /** Enrolment Id */
            enrolment_id: string;
            /** Parts */
            parts: {
                [key: string]: string;
            };
        };
        /**
         * EnrolmentRow
         * @description Keys that a node is known by, by their names.
         */
        EnrolmentRow: {
            /** Identity */
            identity: string;
            /** Keys */
            keys: string[];
            kind: components["schemas"]["EvidenceKind"];
        };
        /**
         * Entitlement
         * @description A line about an app; ``revision`` is what ``If-Match`` is held against.
         */
        Entitlement: {
            /** App */
            app: string;
            /** Is Enabled */
            is_enabled: boolean;
            overlay: components["schemas"]["Overlay"];
            /** Project */
            project: string | null;
            /** Revision */
            revision: number;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * EntitlementChange
         * @description The line about an app that is to count there from now on, as a whole.
         */
        EntitlementChange: {
            /** App */
            app: string;
            /** Is Enabled */
            is_enabled: boolean;
            /** @default {} */
            overlay?: components["schemas"]["Overlay"];
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * EntitlementPlace
         * @description An app, and where: at a project, a tenant, or (without a tenant) over the fleet.
         */
        EntitlementPlace: {
            /** App */
            app: string;
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * ErrorCode
         * @description The closed words by which a program tells one error from another.
         * @enum {string}
         */
        ErrorCode: "invalid_value" | "not_found" | "conflict" | "illegal_transition" | "stale" | "limit_reached" | "not_honoured" | "overlay_broadens" | "verification_failed" | "instance_refused" | "shared_runtime_refused" | "evidence_contradicted" | "call_unanswered" | "unavailable" | "not_leader" | "deposed" | "damaged" | "unsupported_schema" | "clock_jumped" | "invariant_broken";
        /**
         * Estimate
         * @description When an entry may start, by our best guess, and on what that rests.
         */
        Estimate: {
            /**
             * Basis
             * @enum {string}
             */
            basis: "fits_now" | "reservation" | "victims" | "expiry" | "waits_for_quota" | "beyond_horizon" | "waiting_does_not_help";
            /** Starts Ms */
            starts_ms: number | null;
        };
        /** @description The last one, and why there are no more. A stream without it was cut. */
        EventsEnd: {
            data: string;
            /** @constant */
            event: "end";
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /** @description One event of `GET /v1/events/watch`. A comment (`: beat`) is none. */
        EventStreamItem: components["schemas"]["StreamedEvent"] | components["schemas"]["EventsEnd"];
        /**
         * Eviction
         * @description Why a lease is ended against its holder's wish, and how long it may still take.
         */
        Eviction: {
            /** Grace Ms */
            grace_ms?: number | null;
            /**
             * Reason
             * @default operator_drain
             * @enum {string}
             */
            reason?: "operator_drain" | "operator_mig_profile_change" | "maintenance_window" | "policy_violation_recovery";
        };
        /**
         * EvidenceKind
         * @description By what a node proves which machine it is and what it runs.
         * @enum {string}
         */
        EvidenceKind: "ed25519" | "dice" | "tpm2" | "nitro" | "gpu_cc" | "sev_snp" | "tdx";
        /**
         * Exclusivity
         * @description With whom a lease may share its GPU device.
         * @enum {string}
         */
        Exclusivity: "shared" | "session_exclusive" | "device_exclusive" | "partition_exclusive";
        /**
         * Exec
         * @description A program inside a job; only who opened it may use it.
         */
        Exec: {
            /** Exec Id */
            exec_id: string;
            /** Job Id */
            job_id: number;
            /** Lease Id */
            lease_id: number;
            /** Node */
            node: string;
        };
        /**
         * ExecConnect
         * @description A connection to what a job itself listens on; of an endpoint of its manifest.
         */
        ExecConnect: {
            /** File */
            file?: string | null;
            /** Port */
            port?: number | null;
        };
        /**
         * ExecCopy
         * @description Files that go into a job or out of it, as a stream of tar on its input or output.
         */
        ExecCopy: {
            direction: components["schemas"]["CopyDirection"];
            /** Path */
            path: string;
        };
        /**
         * ExecEnd
         * @description Why a run inside a job is over.
         * @enum {string}
         */
        ExecEnd: "exited" | "signalled" | "not_begun" | "job_over" | "ended" | "caller_gone" | "time_over" | "lost";
        /**
         * ExecInput
         * @description What was typed from an offset on; ``is_closed`` says that nothing follows.
         */
        ExecInput: {
            /**
             * Data
             * @default
             */
            data?: string;
            /**
             * Is Closed
             * @default false
             */
            is_closed?: boolean;
            /** Offset */
            offset: number;
            terminal?: components["schemas"]["ExecTerminal"] | null;
        };
        /**
         * ExecOutput
         * @description What the program wrote; ``end`` is set once this was the last of it.
         */
        ExecOutput: {
            end: components["schemas"]["ExecEnd"] | null;
            /** Exit Code */
            exit_code: number | null;
            /** Has Begun */
            has_begun: boolean;
            /** Next Offset */
            next_offset: number;
            /** Note */
            note: string;
            /** Pieces */
            pieces: components["schemas"]["ExecPiece"][];
            /** Signal */
            signal: number | null;
        };
        /**
         * ExecPiece
         * @description Some of what the program wrote.
         */
        ExecPiece: {
            /** Data */
            data: string;
            stream: components["schemas"]["ExecStream"];
        };
        /**
         * ExecQuestion
         * @description From where to read what the program wrote, and how long to wait for something.
         */
        ExecQuestion: {
            /**
             * Offset
             * @default 0
             */
            offset?: number;
            /**
             * Wait S
             * @default 0
             */
            wait_s?: number;
        };
        /**
         * ExecStream
         * @description What a program wrote to.
         * @enum {string}
         */
        ExecStream: "stdout" | "stderr";
        /**
         * ExecTaken
         * @description Up to where it was taken: what is beyond that is to be sent again.
         */
        ExecTaken: {
            /** Next Offset */
            next_offset: number;
        };
        /**
         * ExecTerminal
         * @description The caller's terminal; ``term`` is what its programs find in ``TERM``.
         */
        ExecTerminal: {
            /** Columns */
            columns: number;
            /** Rows */
            rows: number;
            /**
             * Term
             * @default xterm-256color
             */
            term?: string;
        };
        /**
         * Explanation
         * @description What stands in the way of a request, what would help, and what it would lead to now.
         */
        Explanation: {
            /** Blocker */
            blocker: (components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"]) | null;
            /** Blockers */
            blockers: (components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"])[];
            /** Fallen */
            fallen: {
                [key: string]: number;
            };
            /** Fitting */
            fitting: number;
            /** Nodes */
            nodes: number;
            /** Plan */
            plan: components["schemas"]["WouldGrant"] | components["schemas"]["WouldPreempt"] | components["schemas"]["WouldQueue"] | components["schemas"]["WouldRefuse"];
            remedy: components["schemas"]["Remedy"];
            /** Rules */
            rules?: components["schemas"]["ClosingRule"][];
            /**
             * Rules More
             * @default 0
             */
            rules_more?: number;
        };
        /**
         * FailureCategory
         * @description Why an attempt of a task did not do its work; what to do about it is the task's policy.
         * @enum {string}
         */
        FailureCategory: "node_lost" | "preempted" | "out_of_memory" | "exit_code" | "timeout" | "denied";
        /**
         * FilterReason
         * @description At which hard filter a node fell, in the order the filters are asked.
         * @enum {string}
         */
        FilterReason: "node_mode" | "quarantined" | "attestation" | "gpu_kind" | "labels" | "policy" | "cpu" | "memory" | "block" | "gpu";
        /**
         * Finding
         * @description Something that does not agree, and where in the journal that is sealed.
         */
        Finding: {
            /** At Ms */
            at_ms: number;
            /** Evidence */
            evidence: string | null;
            /** Finding */
            finding: string;
            /** Note */
            note: string | null;
            /** Project */
            project: string | null;
            /** Seq */
            seq: number;
            /** Severity */
            severity: string;
            /** Subject */
            subject: string;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * FleetRow
         * @description Where all of one kind of resource, of one generation, went; in ``unit``.
         *
         *     ``leased`` and ``idle`` and all of ``unavailable`` are ``capacity``, which is counted apart.
         */
        FleetRow: {
            /** Capacity */
            capacity: string;
            generation: components["schemas"]["HardwareGeneration"] | null;
            /** Idle */
            idle: string;
            kind: components["schemas"]["ResourceKind"];
            /** Leased */
            leased: string;
            /** Unavailable */
            unavailable: {
                [key: string]: string;
            };
            /** Unit */
            unit: string;
        };
        /**
         * FleetUsage
         * @description What became of every share of every machine, since the journal began.
         */
        FleetUsage: {
            /** As Of Ms */
            as_of_ms: number;
            /** Journal Size */
            journal_size: number;
            /** Rows */
            rows: components["schemas"]["FleetRow"][];
        };
        /**
         * ForcedDeletion
         * @description Why an instance is to be gone although not all of it is known to be.
         */
        ForcedDeletion: {
            /** Reason */
            reason: string;
        };
        /**
         * ForeignAnswer
         * @description What the operator's account was answered where it has nothing to do.
         */
        ForeignAnswer: {
            /** Action */
            action: string;
            scope: components["schemas"]["ForeignScope"];
            /** Status */
            status: number;
        };
        /**
         * ForeignScope
         * @description Where an operator's account has nothing to do.
         * @enum {string}
         */
        ForeignScope: "other_project" | "other_tenant";
        /**
         * Fragmented
         * @description Enough is free in all, but on no single node together.
         */
        Fragmented: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "fragmented";
            /** Members */
            members: number;
            /** Nodes */
            nodes: number;
            /** Placed */
            placed: number;
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * GenerationSum
         * @description What work on a generation comes to, with its cores and memory.
         */
        GenerationSum: {
            /** Cost Micros */
            cost_micros: number;
            generation: components["schemas"]["HardwareGeneration"] | null;
        };
        /**
         * GlobalShown
         * @description A request to the whole fleet that is not over.
         *
         *     ``leases`` are those that it has in its cell, by that cell's numbers; ``waits_for`` is what the
         *     cells said of it last, while it is in none.
         */
        GlobalShown: {
            /** Asked Ms */
            asked_ms: number;
            /** Cell */
            cell: string | null;
            /** Cpu Milli */
            cpu_milli: number;
            /** Gang Size */
            gang_size: number;
            /** Global Id */
            global_id: number;
            /** Gpu Count */
            gpu_count: number;
            /** Gpu Milli */
            gpu_milli: number;
            lease_class: components["schemas"]["LeaseClass"];
            /** Leases */
            leases: number[];
            /** Mem Bytes */
            mem_bytes: number;
            priority: components["schemas"]["Priority"];
            /** Project */
            project: string | null;
            status: components["schemas"]["GlobalStatus"];
            /** Tenant */
            tenant: string;
            /** Ttl Ms */
            ttl_ms: number;
            waits_for: components["schemas"]["PendingReason"] | null;
        };
        /**
         * GlobalStatus
         * @description Where a request to the whole fleet stands, as its home knows it.
         * @enum {string}
         */
        GlobalStatus: "waiting" | "sent" | "queued" | "held" | "withdrawn";
        /**
         * Gpu
         * @description One device.
         */
        Gpu: {
            /**
             * Fabric
             * @default
             */
            fabric?: string;
            generation: components["schemas"]["HardwareGeneration"];
            /**
             * Model
             * @default
             */
            model?: string;
            /**
             * Partitionable
             * @default false
             */
            partitionable?: boolean;
            /**
             * Vram Bytes
             * @default 0
             */
            vram_bytes?: number;
        };
        /**
         * GpuCount
         * @description What was counted on one device of the node.
         */
        GpuCount: {
            /** Active Ms */
            active_ms: number;
            /** Busy Ms */
            busy_ms: number;
            /** Index */
            index: number;
            /** Until Ms */
            until_ms: number;
        };
        /**
         * GpuGenerationLimitExceeded
         * @description More GPUs of a generation than listed; an unlisted one has limit 0.
         */
        GpuGenerationLimitExceeded: {
            denied_generation: components["schemas"]["HardwareGeneration"];
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "gpu_generation_limit_exceeded";
            /** Limit */
            limit: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
            /** Used */
            used: number;
        };
        /**
         * GpuGenerationRequired
         * @description A generation table is in force and the request names no generation.
         */
        GpuGenerationRequired: {
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "gpu_generation_required";
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
        };
        /**
         * Granted
         * @description The request runs: its leases, and the node of each.
         */
        Granted: {
            /**
             * Answer
             * @constant
             */
            answer: "granted";
            /** Expires Ms */
            expires_ms: number;
            /** Lease Ids */
            lease_ids: number[];
            /** Nodes */
            nodes: string[];
        };
        /**
         * GrantedToken
         * @description A short token of an account, in the words of RFC 8693.
         */
        GrantedToken: {
            /** Access Token */
            access_token: string;
            /** Expires In */
            expires_in: number;
            /** Expires Ms */
            expires_ms: number;
            /**
             * Issued Token Type
             * @default urn:ietf:params:oauth:token-type:access_token
             * @constant
             */
            issued_token_type?: "urn:ietf:params:oauth:token-type:access_token";
            /** Principal */
            principal: string;
            /** Token Id */
            token_id: string;
            /**
             * Token Type
             * @default Bearer
             * @constant
             */
            token_type?: "Bearer";
        };
        /**
         * Graph
         * @description A graph, and how many of its tasks are in which phase.
         */
        Graph: {
            /** Cancel Asked */
            cancel_asked: boolean;
            /** Counts */
            counts: {
                [key: string]: number;
            };
            /** Ended Ms */
            ended_ms: number | null;
            /** Executor */
            executor: string | null;
            /** Graph Id */
            graph_id: number;
            /** Name */
            name: string | null;
            phase: components["schemas"]["GraphPhase"];
            /** Project */
            project: string | null;
            /** Reuses */
            reuses: number | null;
            /** Submitted Ms */
            submitted_ms: number;
            /** Submitter */
            submitter: string;
            /** Tasks */
            tasks: number;
            /** Tenant */
            tenant: string;
        };
        /**
         * GraphDetail
         * @description A graph with all of its tasks.
         */
        GraphDetail: {
            graph: components["schemas"]["Graph"];
            /** Stages */
            stages: components["schemas"]["GraphStage"][];
            /** Tasks */
            tasks: components["schemas"]["GraphTask"][];
            /** Tried Again */
            tried_again?: components["schemas"]["PastAttempt"][];
        };
        /**
         * GraphPhase
         * @description How far a graph has come.
         * @enum {string}
         */
        GraphPhase: "running" | "cancelling" | "succeeded" | "failed" | "cancelled";
        /**
         * GraphPlan
         * @description What a graph would lead to; nothing was changed.
         */
        GraphPlan: {
            /** Critical Ms */
            critical_ms: number;
            /** Critical Path */
            critical_path: string[];
            /** Currency */
            currency: string | null;
            /** Micros Total */
            micros_total: number;
            /** Stages */
            stages: components["schemas"]["PlannedStage"][];
            /** Tasks */
            tasks: number;
        };
        /**
         * GraphRetry
         * @description Which tasks to try again; none named: all that did not succeed.
         */
        GraphRetry: {
            /** Tasks */
            tasks?: string[];
        };
        /**
         * GraphStage
         * @description One definition of a graph: its tasks, and what they stand after.
         */
        GraphStage: {
            /** After */
            after: string[];
            /** Name */
            name: string;
            /** Tasks */
            tasks: number;
        };
        /**
         * GraphTask
         * @description One task: how far it has come, and why it failed or was tried again.
         */
        GraphTask: {
            /** Attempt */
            attempt: number;
            category: components["schemas"]["FailureCategory"] | null;
            /** Checkpoint */
            checkpoint: string | null;
            /** Due Ms */
            due_ms: number | null;
            /** Exit Code */
            exit_code: number | null;
            /** Failures */
            failures: {
                [key: string]: number;
            };
            /** Job Id */
            job_id: number | null;
            /** Name */
            name: string;
            /** Outputs */
            outputs: {
                [key: string]: string;
            };
            phase: components["schemas"]["TaskPhase"];
            /** Reason */
            reason: string | null;
            /** Stage */
            stage: string;
        };
        /**
         * HardLimitExceeded
         * @description More of a dimension than the quota allows.
         */
        HardLimitExceeded: {
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "hard_limit_exceeded";
            dimension: components["schemas"]["Dimension"];
            /** Limit */
            limit: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
            /** Used */
            used: number;
        };
        /**
         * HardwareGeneration
         * @description A family of accelerators; the unit in which GPU quota and prices are written.
         * @enum {string}
         */
        HardwareGeneration: "nvidia_volta" | "nvidia_turing" | "nvidia_ampere" | "nvidia_ada" | "nvidia_hopper" | "nvidia_blackwell" | "nvidia_rubin" | "amd_mi200" | "amd_mi300" | "amd_mi350" | "intel_gaudi2" | "intel_gaudi3" | "google_tpu_v5" | "google_tpu_v6" | "aws_trainium2" | "other";
        /**
         * HeadroomKept
         * @description Room is free, but it is kept for more urgent requests.
         */
        HeadroomKept: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "headroom_kept";
            /** Free */
            free: number;
            /** Kept */
            kept: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
            resource: components["schemas"]["ResourceKind"];
        };
        /**
         * Health
         * @description Whether the process, or the state behind it, is there.
         */
        Health: {
            /**
             * Status
             * @constant
             */
            status: "ok";
        };
        /**
         * HealthAction
         * @description What is done with a node for what was found on it.
         * @enum {string}
         */
        HealthAction: "none" | "drain" | "hold_back";
        /**
         * HealthCheck
         * @description What is looked at.
         * @enum {string}
         */
        HealthCheck: "driver" | "xid" | "ecc" | "thermal" | "fabric" | "disk" | "clock" | "burn_in";
        /**
         * HealthLevel
         * @description How bad a finding is.
         * @enum {string}
         */
        HealthLevel: "warn" | "fail";
        /**
         * HealthReport
         * @description All that is wrong with a machine now, and whether its agent can test it.
         */
        HealthReport: {
            /**
             * Can Test
             * @default false
             */
            can_test?: boolean;
            /** Findings */
            findings?: components["schemas"]["NodeFinding"][];
        };
        /**
         * HealthStanding
         * @description What is known of a machine's health: findings, the gravest first, and its last tests.
         *
         *     ``failed_ms`` is since when something fails it, ``closed`` what was done with the node for that.
         */
        HealthStanding: {
            /**
             * Can Test
             * @default false
             */
            can_test?: boolean;
            /** @default none */
            closed?: components["schemas"]["HealthAction"];
            /** Failed Ms */
            failed_ms?: number | null;
            /** Findings */
            findings: components["schemas"]["NodeFinding"][];
            test?: components["schemas"]["RunningTest"] | null;
            /** Tests */
            tests?: components["schemas"]["PastTest"][];
        };
        /**
         * Heard
         * @description A heartbeat was heard: how often one is expected, and after what silence a node is gone.
         *
         *     ``attest_nonce`` is there when the node is to prove itself again, with that nonce, ``mig``
         *     while its GPUs are to be divided (the node is empty, and waits for its agent), and ``test``
         *     while its machine is to be tested.
         */
        Heard: {
            /** Attest Nonce */
            attest_nonce?: string | null;
            /** Beat Ms */
            beat_ms: number;
            mig?: components["schemas"]["MigOrder"] | null;
            /** Node */
            node: string;
            test?: components["schemas"]["NodeTestOrder"] | null;
            /** Timeout Ms */
            timeout_ms: number;
        };
        /**
         * HeardEvent
         * @description An event that came over the stream with all names by which it is followed.
         */
        HeardEvent: {
            event: components["schemas"]["LifecycleEvent"];
            /** Seq */
            seq: number;
        };
        /**
         * Held
         * @description Amounts that include milli-shares of GPUs.
         */
        Held: {
            /**
             * Block Bytes
             * @default 0
             */
            block_bytes?: number;
            /**
             * Cpu Milli
             * @default 0
             */
            cpu_milli?: number;
            /**
             * Gpu Milli
             * @default 0
             */
            gpu_milli?: number;
            /**
             * Mem Bytes
             * @default 0
             */
            mem_bytes?: number;
        };
        /**
         * HeldKey
         * @description What is known of a key.
         */
        HeldKey: {
            /** Added Ms */
            added_ms: number;
            /** Expires Ms */
            expires_ms: number;
            /** Is Live */
            is_live: boolean;
            /** Key Id */
            key_id: string;
            /** Keys */
            keys: ("scheduler.catalog.read" | "scheduler.instance.read" | "scheduler.instance.create" | "scheduler.instance.update" | "scheduler.instance.delete" | "scheduler.queue.submit" | "scheduler.queue.read" | "scheduler.queue.cancel" | "scheduler.node.read" | "scheduler.node.operate" | "scheduler.node.report" | "scheduler.job.exec" | "scheduler.endpoint.open" | "scheduler.lease.read" | "scheduler.lease.hold" | "scheduler.lease.evict" | "scheduler.quota.read" | "scheduler.quota.set" | "scheduler.project_quota.set" | "scheduler.booking.read" | "scheduler.booking.manage" | "scheduler.settings.read" | "scheduler.settings.set" | "scheduler.isolation.read" | "scheduler.isolation.set" | "scheduler.catalog.publish" | "scheduler.entitlement.set" | "scheduler.artifact.manage" | "scheduler.webhook.manage" | "scheduler.shared_runtime.read" | "scheduler.shared_runtime.manage" | "scheduler.shared_runtime.join" | "scheduler.host_privilege.grant" | "scheduler.cell.read" | "scheduler.cell.operate" | "scheduler.cell.home" | "iam.tenant.read" | "iam.tenant.manage" | "iam.project.manage" | "iam.role.manage" | "iam.member.read" | "iam.member.manage" | "iam.service_account.read" | "iam.service_account.manage" | "iam.token.issue" | "iam.token.revoke" | "journal.record.read" | "metering.usage.read" | "metering.finding.report" | "billing.rate_card.read" | "billing.rate_card.set" | "billing.budget.read" | "billing.budget.set" | "billing.project_budget.set" | "billing.invoice.read" | "billing.invoice.issue" | "telemetry.metrics.read" | "telemetry.trace.read" | "iam.break_glass.use")[] | null;
        };
        /**
         * HomeChange
         * @description Where a principal is at home: a tenant, or without one the fleet.
         */
        HomeChange: {
            /** Principal */
            principal: string;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * HomeLetter
         * @description From a home to its cell; ``heard`` is how much of the cell's journal it knows.
         */
        HomeLetter: {
            /** Epoch */
            epoch: number;
            /**
             * Heard
             * @default -1
             */
            heard?: number;
            /** Home */
            home: string;
            /**
             * Not After Ms
             * @default 0
             */
            not_after_ms?: number;
            /** Orders */
            orders?: components["schemas"]["LetterOrder"][];
        };
        /**
         * HomeShown
         * @description The plane whose cell this one is, and how much it has here.
         */
        HomeShown: {
            /** Done */
            done: number;
            /** Epoch */
            epoch: number;
            /** Held */
            held: number;
            /** Home */
            home: string;
        };
        /**
         * HostGrant
         * @description Whether members of a version may do more on their nodes than a sandbox lets them.
         */
        HostGrant: {
            /** Is Granted */
            is_granted: boolean;
        };
        /**
         * IdentityExchange
         * @description What a program shows to become an account, in the words of RFC 8693.
         *
         *     ``subject_token`` is what its own issuer signed (a JWT), or a key of the account.
         */
        IdentityExchange: {
            /** Account */
            account: string;
            /**
             * Grant Type
             * @default urn:ietf:params:oauth:grant-type:token-exchange
             * @constant
             */
            grant_type?: "urn:ietf:params:oauth:grant-type:token-exchange";
            /** Subject Token */
            subject_token: string;
            /**
             * Subject Token Type
             * @default urn:ietf:params:oauth:token-type:jwt
             * @enum {string}
             */
            subject_token_type?: "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:id_token" | "urn:bailiwick:token-type:account_key";
            /**
             * Ttl S
             * @default 900
             */
            ttl_s?: number;
        };
        /**
         * InboxNotice
         * @description One notice; ``title`` and ``text`` are the same in mail.
         */
        InboxNotice: {
            /** At Ms */
            at_ms: number;
            /** Facts */
            facts: {
                [key: string]: string | number;
            };
            /** Id */
            id: number;
            kind: components["schemas"]["NoticeKind"];
            /** Project */
            project: string | null;
            /** Read Ms */
            read_ms: number | null;
            /** Tenant */
            tenant: string | null;
            /** Text */
            text: string;
            /** Title */
            title: string;
        };
        /**
         * InboxNotices
         * @description Some of an inbox, the newest first.
         */
        InboxNotices: {
            /** Dropped */
            dropped: number;
            /** Items */
            items: components["schemas"]["InboxNotice"][];
            /** Next */
            next?: string | null;
            /** Unread */
            unread: number;
        };
        /**
         * InboxRead
         * @description How many notices became read.
         */
        InboxRead: {
            /** Notices */
            notices: number;
        };
        /**
         * InboxReading
         * @description Which notices were read; none named: all.
         */
        InboxReading: {
            /** Ids */
            ids?: number[];
        };
        /**
         * Instance
         * @description An app that a project runs; ``revision`` is also its ``ETag``.
         */
        Instance: {
            /** App */
            app: string;
            /** Conditions */
            conditions: components["schemas"]["InstanceCondition"][];
            control_plane_scope: components["schemas"]["ControlPlaneScope"];
            /** Counts */
            counts: {
                [key: string]: number;
            };
            /** Created Ms */
            created_ms: number;
            /** Deadline Ms */
            deadline_ms: number | null;
            /** Generation */
            generation: number;
            /** Instance Id */
            instance_id: number;
            /** Is Paused */
            is_paused: boolean;
            /** Metadata */
            metadata: string;
            /** Name */
            name: string;
            /** Observed Generation */
            observed_generation: number;
            operating_mode: components["schemas"]["OperatingMode"];
            /** Parameters */
            parameters: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            phase: components["schemas"]["InstancePhase"];
            /** Project */
            project: string;
            /** Ready */
            ready: {
                [key: string]: number;
            };
            /** Reason */
            reason: string | null;
            /** Revision */
            revision: number;
            /** Rollback Version */
            rollback_version: string | null;
            /** Runtime Backend */
            runtime_backend: string;
            /** Tenant */
            tenant: string;
            /** Version */
            version: string;
        };
        /**
         * InstanceCall
         * @description A call: who asked, which verb, how far it has come. What was asked is not told.
         */
        InstanceCall: {
            /** Asked Ms */
            asked_ms: number;
            /** Call Id */
            call_id: number;
            /** Correlation Id */
            correlation_id: string;
            /** Expires Ms */
            expires_ms: number;
            /** Instance Id */
            instance_id: number;
            phase: components["schemas"]["CallPhase"];
            /** Principal */
            principal: string;
            reply: components["schemas"]["CallReply"] | null;
            verb: components["schemas"]["CallVerb"];
        };
        /**
         * InstanceChange
         * @description What is wanted from now on; what is left out stays.
         *
         *     ``version`` upgrades along the paths of the manifest; ``rollback`` goes back to what last ran.
         */
        InstanceChange: {
            /** Counts */
            counts?: {
                [key: string]: number;
            } | null;
            /** Is Paused */
            is_paused?: boolean | null;
            /** Metadata */
            metadata?: string | null;
            /** Parameters */
            parameters?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * Rollback
             * @default false
             */
            rollback?: boolean;
            /** Version */
            version?: string | null;
        };
        /**
         * InstanceCondition
         * @description What is to be known of an instance beside its phase.
         * @enum {string}
         */
        InstanceCondition: "paused" | "not_entitled" | "unobserved" | "members_missing" | "members_failed" | "members_outdated" | "ready_overdue" | "deletion_overdue";
        /**
         * InstanceDone
         * @description It took effect; ``instance_id`` is ``null`` if it was a dry run.
         */
        InstanceDone: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            /** Instance Id */
            instance_id: number | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * InstanceEndpoint
         * @description A page or an HTTP interface that members of an instance serve.
         */
        InstanceEndpoint: {
            /** Component Key */
            component_key: string | null;
            /** Name */
            name: string;
            /** Role */
            role: string;
            /** Title */
            title: string;
        };
        /**
         * InstanceEndpoints
         * @description Those of an instance, by name; each is below ``endpoints/NAME/``.
         */
        InstanceEndpoints: {
            /** Items */
            items: components["schemas"]["InstanceEndpoint"][];
        };
        /**
         * InstanceMember
         * @description One member of an instance: a lease, and a process on its node.
         */
        InstanceMember: {
            /** Changed Ms */
            changed_ms: number;
            /** Component Key */
            component_key: string;
            /** Deadline Ms */
            deadline_ms: number | null;
            /** Instance Id */
            instance_id: number;
            /** Job Id */
            job_id: number | null;
            /** Lease Id */
            lease_id: number | null;
            /** Member Id */
            member_id: number;
            phase: components["schemas"]["MemberPhase"];
            /** Reason */
            reason: string | null;
            /** Role */
            role: string;
            /** Source Project */
            source_project?: string | null;
            /** Version */
            version: string;
        };
        /**
         * InstanceMemberChange
         * @description One thing to do with the members of an instance.
         */
        InstanceMemberChange: {
            action: components["schemas"]["MemberAction"];
            /** Component Key */
            component_key?: string | null;
            /** Member Id */
            member_id?: number | null;
            /** Role */
            role?: string | null;
        };
        /**
         * InstanceOperation
         * @description Work on an instance that takes its time: how far it is, and what came of it.
         */
        InstanceOperation: {
            /** Begun Ms */
            begun_ms: number;
            /** Component Key */
            component_key: string | null;
            /** Ended Ms */
            ended_ms: number | null;
            /** Generation */
            generation: number | null;
            /** Instance Id */
            instance_id: number;
            kind: components["schemas"]["OperationKind"];
            /** Log */
            log: string[];
            /** Member Id */
            member_id: number | null;
            /** Operation Id */
            operation_id: number;
            phase: components["schemas"]["OperationPhase"];
            /** Progress */
            progress: number;
            /** Result */
            result: string;
            /** Title */
            title: string;
        };
        /**
         * InstancePhase
         * @description How far an instance of an app has come.
         * @enum {string}
         */
        InstancePhase: "requested" | "provisioning" | "running" | "updating" | "degraded" | "failed" | "deleting" | "deleted";
        /**
         * InstanceRefusal
         * @description Why an instance is not made, or not changed so, in the order in which it is asked.
         * @enum {string}
         */
        InstanceRefusal: "not_enabled" | "version_retired" | "version_not_allowed" | "no_upgrade_path" | "nothing_to_roll_back" | "mode_not_offered" | "mode_not_allowed" | "not_offered_here" | "scope_not_offered" | "host_not_granted" | "artifact_unusable" | "parameters_invalid" | "count_out_of_range" | "members_max" | "instances_max";
        /**
         * InstanceReport
         * @description What the operator sees; ``null`` leaves it to the members.
         */
        InstanceReport: {
            /** Metadata */
            metadata?: string | null;
            /** Observed Generation */
            observed_generation: number;
            phase?: components["schemas"]["InstancePhase"] | null;
            /** Reason */
            reason?: string | null;
        };
        /**
         * InstanceUsage
         * @description What an instance's operator told of its use, in units of the app.
         */
        InstanceUsage: {
            /** App */
            app: string;
            /** Instance Id */
            instance_id: number;
            /** Next Sequence */
            next_sequence: number;
            /** Sources */
            sources: components["schemas"]["UsageTeller"][];
            /** Units */
            units: components["schemas"]["UnitTold"][];
        };
        /**
         * InstanceUsageReport
         * @description So much of a unit was used in ``from_ms <= t < to_ms``; ``sequence`` counts from 1.
         */
        InstanceUsageReport: {
            /** Component Key */
            component_key?: string | null;
            /** From Ms */
            from_ms: number;
            /** Quantity */
            quantity: number;
            /** Sequence */
            sequence: number;
            /** To Ms */
            to_ms: number;
            /** Unit */
            unit: string;
        };
        /**
         * Inventory
         * @description What a machine has.
         */
        Inventory: {
            /** Gpus */
            gpus?: components["schemas"]["Gpu"][];
            /** Labels */
            labels?: string[];
            resources: components["schemas"]["Resources"];
            topology?: components["schemas"]["Topology"];
        };
        /**
         * Invitation
         * @description A role that you may accept; until then it counts for nothing.
         */
        Invitation: {
            /** Expires Ms */
            expires_ms: number;
            /** Offered Ms */
            offered_ms: number;
            /** Project */
            project: string | null;
            /** Role */
            role: ("fleet_admin" | "fleet_operator" | "fleet_auditor" | "node_agent" | "tenant_admin" | "tenant_auditor" | "project_admin" | "project_member" | "project_viewer") | string;
            /** Tenant */
            tenant: string;
        };
        /**
         * InvitedTo
         * @description Where: the tenant, and perhaps the project, of an invitation or of a role.
         */
        InvitedTo: {
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant: string;
        };
        /**
         * Invoice
         * @description An invoice that was issued, or that would be (``draft``: nothing is sealed).
         */
        Invoice: {
            body: components["schemas"]["InvoiceBody"];
            /** Corrected By */
            corrected_by: string[];
            /** Digest */
            digest: string;
            /**
             * Status
             * @enum {string}
             */
            status: "draft" | "issued";
        };
        /**
         * InvoiceBody
         * @description An invoice: whose it is, of which period, from how many records, and its lines.
         *
         *     What apps told of their use are lines apart (``unit_lines``), and so is what projects owe one
         *     another (``settled_lines``); an invoice without any lacks the word.
         */
        InvoiceBody: {
            /** By Generation */
            by_generation: components["schemas"]["GenerationSum"][];
            /** By Project */
            by_project: components["schemas"]["ProjectSum"][];
            /** Corrects */
            corrects: string | null;
            /** Currency */
            currency: string;
            /** From Ms */
            from_ms: number;
            /** Invoice Id */
            invoice_id: string;
            /** Journal Size */
            journal_size: number;
            /** Lines */
            lines: components["schemas"]["InvoiceLine"][];
            /** Project */
            project: string | null;
            /**
             * Scope
             * @enum {string}
             */
            scope: "tenant" | "project";
            /** Settled Lines */
            settled_lines?: components["schemas"]["InvoiceSettledLine"][] | null;
            /** Tenant */
            tenant: string;
            /** To Ms */
            to_ms: number;
            /** Total Micros */
            total_micros: number;
            /** Unit Lines */
            unit_lines?: components["schemas"]["InvoiceUnitLine"][] | null;
            /** Version */
            version: number;
        };
        /**
         * InvoiceHead
         * @description What a list tells of an invoice.
         */
        InvoiceHead: {
            /** Corrects */
            corrects: string | null;
            /** Currency */
            currency: string;
            /** Digest */
            digest: string;
            /** From Ms */
            from_ms: number;
            /** Invoice Id */
            invoice_id: string;
            /** Journal Size */
            journal_size: number;
            /** Lines */
            lines: number;
            /** Project */
            project: string | null;
            /** Tenant */
            tenant: string;
            /** To Ms */
            to_ms: number;
            /** Total Micros */
            total_micros: number;
        };
        /**
         * InvoiceLine
         * @description What one key used, at which price of which card, and what that costs.
         *
         *     A line of a member of an app says whose (``member``); every other line lacks the word.
         */
        InvoiceLine: {
            /** Card */
            card: string;
            /** Card Effective Ms */
            card_effective_ms: number;
            /** Card Tenant */
            card_tenant: string | null;
            /** Cause */
            cause: ("released_early" | "expired" | "preempted" | "spot_evicted" | "own_limit" | "node_lost" | "teardown_failed") | null;
            /** Cost Micros */
            cost_micros: number;
            /** First Seq */
            first_seq: number;
            /** From Ms */
            from_ms: number;
            generation: components["schemas"]["HardwareGeneration"] | null;
            kind: components["schemas"]["ResourceKind"];
            /** Last Seq */
            last_seq: number;
            lease_class: components["schemas"]["LeaseClass"];
            /** List Cost Micros */
            list_cost_micros: number;
            /** List Micros Per Hour */
            list_micros_per_hour: number;
            /** List Per Mille */
            list_per_mille: number;
            member?: components["schemas"]["LineMember"] | null;
            /** Price Micros Per Hour */
            price_micros_per_hour: number;
            /** Price Per Mille */
            price_per_mille: number;
            /** Project */
            project: string | null;
            /** Quantity */
            quantity: string;
            /** Segments */
            segments: number;
            /**
             * Stage
             * @enum {string}
             */
            stage: "held" | "grace" | "teardown";
            /** Tag */
            tag: string | null;
            /** To Ms */
            to_ms: number;
            /** Unit */
            unit: string;
            /** Used */
            used: string;
        };
        /**
         * InvoiceSettledLine
         * @description What a project has with another for workers of a shared runtime: two lines of one amount.
         *
         *     Who ``used`` another's workers owes ``cost_micros``; who ``lent`` them is owed it, and it is
         *     negative. What is ``disputed`` is more than those workers held, and moves nothing.
         */
        InvoiceSettledLine: {
            /** App */
            app: string;
            /** Cost Micros */
            cost_micros: number;
            /** Disputed */
            disputed: string;
            /** First Seq */
            first_seq: number;
            /** From Ms */
            from_ms: number;
            /** Last Seq */
            last_seq: number;
            /** Price Micros */
            price_micros: number;
            /** Project */
            project: string;
            /** Quantity */
            quantity: string;
            /** Reports */
            reports: number;
            /** Runtime */
            runtime: string;
            /** Runtime Id */
            runtime_id: number;
            /**
             * Side
             * @enum {string}
             */
            side: "used" | "lent";
            /** To Ms */
            to_ms: number;
            /** Unit */
            unit: string;
            /** With Project */
            with_project: string;
        };
        /**
         * InvoiceUnitLine
         * @description What an instance told of one unit, at which price of which card, and what that costs.
         *
         *     Without ``price_micros`` no card has a price for it. What is ``disputed`` is more than the
         *     instance's members held, and is not charged.
         */
        InvoiceUnitLine: {
            /** App */
            app: string;
            /** Card */
            card: string;
            /** Card Effective Ms */
            card_effective_ms: number;
            /** Card Tenant */
            card_tenant: string | null;
            /** Cost Micros */
            cost_micros: number;
            /** Disputed */
            disputed: string;
            /** First Seq */
            first_seq: number;
            /** From Ms */
            from_ms: number;
            /** Instance Id */
            instance_id: number;
            /** Last Seq */
            last_seq: number;
            /** List Cost Micros */
            list_cost_micros: number;
            /** List Price Micros */
            list_price_micros: number | null;
            /** Price Micros */
            price_micros: number | null;
            /** Project */
            project: string | null;
            /** Quantity */
            quantity: string;
            /** Reports */
            reports: number;
            /** To Ms */
            to_ms: number;
            /** Unit */
            unit: string;
        };
        /**
         * IsolationEnforcement
         * @description Who had to go by a policy; the list holds the first of many, and none in a dry run.
         */
        IsolationEnforcement: {
            /** Leases */
            leases: number;
            /** Recovered */
            recovered: components["schemas"]["IsolationRecovered"][];
            /** Seq */
            seq: number | null;
            /** Violations */
            violations: number;
        };
        /**
         * IsolationFinding
         * @description What is to know about a policy that is well written.
         */
        IsolationFinding: {
            /** Code */
            code: string;
            /** Fix */
            fix: string | null;
            /** Line */
            line: number | null;
            /** Rule */
            rule: string | null;
            /** Sentence */
            sentence: string;
            /**
             * Severity
             * @enum {string}
             */
            severity: "error" | "warning" | "note";
        };
        /**
         * IsolationLeaver
         * @description A lease that would have to go: the rule, where, and beside which leases.
         */
        IsolationLeaver: {
            /** Domain */
            domain: string;
            /** Is Along */
            is_along: boolean;
            kind: components["schemas"]["DomainKind"] | null;
            /** Lease Id */
            lease_id: number;
            /** Node */
            node: string;
            /** Partners */
            partners: number[];
            /** Project */
            project: string | null;
            /** Rule */
            rule: string;
            /** Tenant */
            tenant: string;
        };
        /**
         * IsolationLint
         * @description What is wrong with a text; only one without problems has findings.
         */
        IsolationLint: {
            /** Findings */
            findings: components["schemas"]["IsolationFinding"][];
            /** Problems */
            problems: components["schemas"]["IsolationProblem"][];
        };
        /**
         * IsolationNever
         * @description A waiting request that no node could run any more, and the rule by which.
         */
        IsolationNever: {
            /** Entry Id */
            entry_id: number;
            /** Project */
            project: string | null;
            /** Rule */
            rule: string;
            /** Tenant */
            tenant: string;
        };
        /**
         * IsolationNothingFound
         * @description No way around the policy was found, and how far was looked.
         */
        IsolationNothingFound: {
            /** Rounds */
            rounds: components["schemas"]["IsolationRound"][];
            /** Sentence */
            sentence: string;
            /** States */
            states: number;
            /** World */
            world: string;
        };
        /**
         * IsolationPolicy
         * @description The policy in force, as the text that was set; the ``ETag`` is its version.
         */
        IsolationPolicy: {
            /** Residues */
            residues: components["schemas"]["IsolationResidue"][];
            /** Rules */
            rules: number;
            /** Set Ms */
            set_ms: number;
            /** Text */
            text: string;
            /** Version */
            version: number;
        };
        /**
         * IsolationPolicyChange
         * @description The text that is to be the policy from now on, as a whole.
         */
        IsolationPolicyChange: {
            /** Text */
            text: string;
        };
        /**
         * IsolationPreview
         * @description What a policy would do to what runs and waits now; lists hold the first of many.
         */
        IsolationPreview: {
            /** Leavers */
            leavers: components["schemas"]["IsolationLeaver"][];
            /** Leaving */
            leaving: number;
            /** Never */
            never: components["schemas"]["IsolationNever"][];
            /** Rules */
            rules: number;
            /** Version */
            version: number;
        };
        /**
         * IsolationProblem
         * @description One thing that is wrong with a text, at which character (both from 1).
         */
        IsolationProblem: {
            /** Column */
            column: number;
            /** Found */
            found: string;
            /** Line */
            line: number;
            /** Nearest */
            nearest: string | null;
            /** Sentence */
            sentence: string;
        };
        /**
         * IsolationRecovered
         * @description A lease that was evicted: the rule, where, and beside which leases.
         */
        IsolationRecovered: {
            /** Domain */
            domain: string;
            kind: components["schemas"]["DomainKind"] | null;
            /** Lease Id */
            lease_id: number;
            /** Partners */
            partners: number[];
            /** Rule */
            rule: string;
        };
        /**
         * IsolationResidue
         * @description A domain that is kept for those who left it.
         */
        IsolationResidue: {
            /** Domain */
            domain: string;
            kind: components["schemas"]["DomainKind"];
            /** Left Ms */
            left_ms: number;
            /** Rule */
            rule: string;
            /** Until Ms */
            until_ms: number | null;
        };
        /**
         * IsolationRound
         * @description What came of one round.
         */
        IsolationRound: {
            /** Is Found */
            is_found: boolean;
            /** Is Whole */
            is_whole: boolean;
            /** Jobs */
            jobs: number;
            /**
             * Question
             * @enum {string}
             */
            question: "rules" | "excuse" | "fault";
            /** Sentence */
            sentence: string;
            /** States */
            states: number;
        };
        /**
         * IsolationSearchEnd
         * @description The last word, and why.
         */
        IsolationSearchEnd: {
            /**
             * Reason
             * @enum {string}
             */
            reason: "complete" | "time_over" | "server_ending" | "token_ended" | "forbidden" | "unavailable";
            /** Sentence */
            sentence: string;
            /** Ways */
            ways: number;
        };
        /** @description The last event, and why. A stream without one was cut. */
        IsolationSearchEndedEvent: {
            data: string;
            /** @constant */
            event: "ended";
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /** @description One event of `POST /v1/isolation/search`. A comment (`: beat`) is none. */
        IsolationSearchEvent: components["schemas"]["IsolationSearchProgressEvent"] | components["schemas"]["IsolationSearchFoundEvent"] | components["schemas"]["IsolationSearchNothingEvent"] | components["schemas"]["IsolationSearchEndedEvent"];
        /** @description A way around the policy, as a story; there may be several. */
        IsolationSearchFoundEvent: {
            data: string;
            /** @constant */
            event: "found";
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /** @description No way was found, and how far was looked. */
        IsolationSearchNothingEvent: {
            data: string;
            /** @constant */
            event: "nothing";
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /**
         * IsolationSearchProgress
         * @description How far a search is.
         */
        IsolationSearchProgress: {
            /** Jobs */
            jobs: number;
            /**
             * Question
             * @enum {string}
             */
            question: "rules" | "excuse" | "fault";
            /** Round */
            round: number;
            /** Rounds */
            rounds: number;
            /** Sentence */
            sentence: string;
            /** States */
            states: number;
            /** Steps */
            steps: number;
        };
        /** @description How far the search is. */
        IsolationSearchProgressEvent: {
            data: string;
            /** @constant */
            event: "progress";
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /**
         * IsolationSearchWish
         * @description What is to be searched, and how far; without a text, the policy in force.
         */
        IsolationSearchWish: {
            /**
             * Jobs
             * @default 3
             */
            jobs?: number;
            /**
             * Steps
             * @default 6
             */
            steps?: number;
            /** Text */
            text?: string | null;
        };
        /**
         * IsolationStory
         * @description A way around the policy, step by step.
         */
        IsolationStory: {
            /** Broken */
            broken: components["schemas"]["StoryBroken"][];
            excuse: components["schemas"]["StoryExcuse"] | null;
            /** Fault */
            fault: string | null;
            /** Jobs */
            jobs: components["schemas"]["StoryJob"][];
            /** Nodes */
            nodes: string[];
            /**
             * Question
             * @enum {string}
             */
            question: "rules" | "excuse" | "fault";
            /** Sentence */
            sentence: string;
            /** Steps */
            steps: components["schemas"]["StoryStep"][];
        };
        /**
         * IssuedLeaseToken
         * @description A token, shown this once; empty in a dry run, and where the node mints it.
         */
        IssuedLeaseToken: {
            /**
             * Answer
             * @constant
             */
            answer: "issued";
            claims: components["schemas"]["TokenClaims"];
            /** Token */
            token: string;
        };
        /**
         * IssuedToken
         * @description A token, shown this once.
         */
        IssuedToken: {
            /** Expires Ms */
            expires_ms: number;
            /** Principal */
            principal: string;
            /** Token */
            token: string;
            /** Token Id */
            token_id: string;
        };
        /**
         * Job
         * @description A command under a lease; ``reason`` is the closed word for why it waits or ended.
         */
        Job: {
            /** After */
            after?: string[];
            /** Array */
            array?: string | null;
            /** Array Id */
            array_id?: number | null;
            /** Array Index */
            array_index?: number | null;
            /**
             * Attempt
             * @default 1
             */
            attempt?: number;
            /** Attempts */
            attempts?: components["schemas"]["JobAttempt"][];
            /** Checkpoint */
            checkpoint?: string | null;
            /** Command */
            command: string[];
            cost?: components["schemas"]["JobCost"] | null;
            /** Denied */
            denied?: (components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"]) | null;
            /** Ended Ms */
            ended_ms: number | null;
            /** Entry Id */
            entry_id: number | null;
            /** Exit Code */
            exit_code: number | null;
            /** Image */
            image?: string | null;
            /**
             * Interactive
             * @default false
             */
            interactive?: boolean;
            /**
             * Is Held
             * @default false
             */
            is_held?: boolean;
            /** Job Id */
            job_id: number;
            /** Lease Id */
            lease_id: number | null;
            /** Mem Bytes */
            mem_bytes: number;
            /** Members */
            members?: components["schemas"]["JobMember"][];
            /** Name */
            name: string | null;
            /** Node */
            node: string | null;
            phase: components["schemas"]["JobPhase"];
            /** Project */
            project: string | null;
            /** Reason */
            reason: string | null;
            request?: components["schemas"]["Asked"] | null;
            /**
             * Retries
             * @default 0
             */
            retries?: number;
            /** Retry On */
            retry_on?: components["schemas"]["FailureCategory"][];
            /** Signal */
            signal: number | null;
            /** Started Ms */
            started_ms: number | null;
            /** Submitted Ms */
            submitted_ms: number;
            /** Submitter */
            submitter: string;
            /** Tag */
            tag: string | null;
            /** Tenant */
            tenant: string;
        };
        /**
         * JobAttempt
         * @description An attempt that is over of a job that was tried again.
         */
        JobAttempt: {
            /** Attempt */
            attempt: number;
            /** Ended Ms */
            ended_ms: number;
            /** Exit Code */
            exit_code: number | null;
            /** Lease Id */
            lease_id: number | null;
            /** Node */
            node: string | null;
            phase: components["schemas"]["JobPhase"];
            /** Reason */
            reason: string | null;
            /** Signal */
            signal: number | null;
            /** Started Ms */
            started_ms: number | null;
        };
        /**
         * JobCost
         * @description What a job has cost so far, as its invoice will have it, and what an hour of it costs.
         */
        JobCost: {
            /** Cost Micros */
            cost_micros: number;
            /** Currency */
            currency: string;
            /** Is Upper Bound */
            is_upper_bound: boolean;
            /** Micros Per Hour */
            micros_per_hour: number | null;
        };
        /**
         * JobFault
         * @description Why a job could not begin, or cannot be told about, beyond what its lease says.
         * @enum {string}
         */
        JobFault: "program_not_runnable" | "directory_not_usable" | "limits_not_possible" | "token_refused" | "executor_unavailable" | "lease_gone" | "folder_gone" | "not_kept_apart" | "image_not_usable" | "agent_too_old" | "submission_unknown" | "out_of_memory" | "dependency_never_met" | "not_permitted" | "host_not_given";
        /**
         * JobFile
         * @description A job file as it was written, and where it is to run if it does not say so itself.
         */
        JobFile: {
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant: string;
            /** Text */
            text: string;
        };
        /**
         * JobFileMistake
         * @description What is wrong in a job file, and where.
         */
        JobFileMistake: {
            /** Column */
            column: number;
            /** Line */
            line: number;
            /** Message */
            message: string;
        };
        /**
         * JobFileRead
         * @description The job that a file asks for, or everything that is wrong in it.
         */
        JobFileRead: {
            job: components["schemas"]["NewJob"] | null;
            /** Mistakes */
            mistakes: components["schemas"]["JobFileMistake"][];
        };
        /**
         * JobMember
         * @description A member of a job that runs on several leases; its output is told by its rank.
         */
        JobMember: {
            /** Ended Ms */
            ended_ms: number | null;
            /** Exit Code */
            exit_code: number | null;
            /** Lease Id */
            lease_id: number;
            /** Node */
            node: string;
            /** Rank */
            rank: number;
            /** Signal */
            signal: number | null;
        };
        /**
         * JobOutput
         * @description A piece of what a job printed; ``next_offset`` is where to go on, until ``is_over``.
         */
        JobOutput: {
            /** Data */
            data: string;
            /** Is Over */
            is_over: boolean;
            /** Is Truncated */
            is_truncated: boolean;
            /** Job Id */
            job_id: number;
            /** Next Offset */
            next_offset: number;
            /** Offset */
            offset: number;
        };
        /**
         * JobPhase
         * @description How far a job has come.
         * @enum {string}
         */
        JobPhase: "waiting" | "starting" | "running" | "ending" | "succeeded" | "failed" | "cancelled" | "preempted" | "expired" | "refused" | "lost";
        /**
         * JournalConsistency
         * @description What shows that the first ``old_size`` records are still those that they were (RFC 9162).
         */
        JournalConsistency: {
            /** Hashes */
            hashes: string[];
            /** New Size */
            new_size: number;
            /** Old Size */
            old_size: number;
        };
        /**
         * JournalRecord
         * @description One sealed fact, as it stands in the journal.
         */
        JournalRecord: {
            /** Actor */
            actor: string;
            /** At Ms */
            at_ms: number;
            /** Body */
            body: {
                [key: string]: unknown;
            };
            /** Correlation Id */
            correlation_id: string;
            /** Kind */
            kind: string;
            /** Prev Hash */
            prev_hash: string;
            /** Project */
            project: string | null;
            /** Seq */
            seq: number;
            /** Tenant */
            tenant: string | null;
        };
        JsonValue: unknown;
        /**
         * KeyWish
         * @description A key to be made; with ``overlap_s`` the one that there is ends so much later (rotation).
         */
        KeyWish: {
            /** Overlap S */
            overlap_s?: number | null;
            /**
             * Ttl S
             * @default 7776000
             */
            ttl_s?: number;
        };
        /**
         * KindStanding
         * @description The last verdict of one kind that counts.
         */
        KindStanding: {
            /** At Ms */
            at_ms: number;
            /** Claims */
            claims: {
                [key: string]: string;
            };
            /** Evidence */
            evidence: string | null;
            kind: components["schemas"]["EvidenceKind"];
            reason: components["schemas"]["UntrustedReason"] | null;
            /** Valid Until Ms */
            valid_until_ms: number | null;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "trusted" | "untrusted" | "stale" | "unsupported";
        };
        /**
         * KindVerdict
         * @description What was found of all evidence of one kind; ``where`` is for a person.
         */
        KindVerdict: {
            /** Claims */
            claims?: {
                [key: string]: string;
            };
            /** Evidence */
            evidence: string;
            /** Is Sealed */
            is_sealed: boolean;
            kind: components["schemas"]["EvidenceKind"];
            reason?: components["schemas"]["UntrustedReason"] | null;
            /** Valid Until Ms */
            valid_until_ms?: number | null;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "trusted" | "untrusted" | "stale" | "unsupported";
            /**
             * Where
             * @default
             */
            where?: string;
        };
        /**
         * LabelMoved
         * @description What a label of a node said, and says now; null where there is none.
         */
        LabelMoved: {
            /** Key */
            key: string;
            /** Now */
            now: string | null;
            /** Was */
            was: string | null;
        };
        /**
         * LabelsSet
         * @description A node has these labels; or (dry run) would have. ``seq`` is null if it had them already.
         */
        LabelsSet: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            /** Labels */
            labels?: components["schemas"]["LabelMoved"][];
            /** Seq */
            seq: number | null;
        };
        /**
         * LargerThanAnyNode
         * @description One member asks for more than the largest suitable machine has when empty.
         */
        LargerThanAnyNode: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "larger_than_any_node";
            /** Largest */
            largest: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
            resource: components["schemas"]["ResourceKind"];
        };
        /**
         * Leader
         * @description Who leads, and where he is reached.
         */
        Leader: {
            /** Address */
            address: string;
            /** Epoch */
            epoch: number;
            /** Name */
            name: string;
        };
        /**
         * Lease
         * @description A hold on resources.
         *
         *     ``cores`` says how many lie under which cache; ``null`` where that is not known, so that they
         *     may be anywhere on the node. ``maintained_ms`` is when the next maintenance of its node begins:
         *     its term does not grow beyond that.
         */
        Lease: {
            /** Cores */
            cores?: components["schemas"]["CacheShare"][] | null;
            /** Devices */
            devices: number[];
            /** Expires Ms */
            expires_ms: number;
            /** Gang */
            gang: number | null;
            /** Generation */
            generation: number;
            /** Granted Ms */
            granted_ms: number;
            /** Job Labels */
            job_labels?: string[];
            lease_class: components["schemas"]["LeaseClass"];
            /** Lease Id */
            lease_id: number;
            /** Maintained Ms */
            maintained_ms?: number | null;
            /** Node */
            node: string;
            priority: components["schemas"]["Priority"];
            /** Project */
            project: string | null;
            resources: components["schemas"]["Held"];
            state: components["schemas"]["RevokeState"];
            /** Tenant */
            tenant: string;
        };
        /**
         * LeaseClass
         * @description What the tenant bought: how firmly the lease is held.
         * @enum {string}
         */
        LeaseClass: "guaranteed" | "standard" | "spot";
        /**
         * LeaseClassForbidden
         * @description A lease class that may not be asked for there.
         */
        LeaseClassForbidden: {
            asked_class: components["schemas"]["LeaseClass"];
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "lease_class_forbidden";
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * LeaseRequest
         * @description What is asked for; ``wait`` is whether it may stand in the queue.
         */
        LeaseRequest: {
            /** Deadline Ms */
            deadline_ms?: number | null;
            exclusivity?: components["schemas"]["Exclusivity"] | null;
            /**
             * Gang Size
             * @default 1
             */
            gang_size?: number;
            /**
             * Gpu Count
             * @default 0
             */
            gpu_count?: number;
            gpu_generation?: components["schemas"]["HardwareGeneration"] | null;
            /**
             * Gpu Milli
             * @default 0
             */
            gpu_milli?: number;
            /** Gpu Models */
            gpu_models?: string[];
            /**
             * Gpu Vram
             * @default 0
             */
            gpu_vram?: number;
            /** Job Labels */
            job_labels?: string[];
            /** Labels */
            labels?: string[];
            /** @default standard */
            lease_class?: components["schemas"]["LeaseClass"];
            /**
             * Preemptible On Budget
             * @default false
             */
            preemptible_on_budget?: boolean;
            /** @default normal */
            priority?: components["schemas"]["Priority"];
            /** Project */
            project?: string | null;
            /**
             * @default {
             *       "block_bytes": 0,
             *       "cpu_milli": 0,
             *       "mem_bytes": 0
             *     }
             */
            resources?: components["schemas"]["Resources"];
            /** Scheduler Type */
            scheduler_type?: string | null;
            /** Tag */
            tag?: string | null;
            /** Tenant */
            tenant: string;
            /**
             * Ttl Ms
             * @default 3600000
             */
            ttl_ms?: number;
            /**
             * Wait
             * @default true
             */
            wait?: boolean;
        };
        /**
         * LeaseTerm
         * @description How long a lease lasts yet, unless it is renewed.
         */
        LeaseTerm: {
            /** Lease Id */
            lease_id: number;
            /** Left Ms */
            left_ms: number;
        };
        /**
         * LeavingLease
         * @description A lease that would be ended, where it runs, and until when it may.
         *
         *     Of one that the caller may not read, its number and its tenant's name are not told.
         */
        LeavingLease: {
            /** Lease Id */
            lease_id: number | null;
            /** Node */
            node: string;
            /** Tenant */
            tenant: string;
            /** Until Ms */
            until_ms: number;
        };
        /**
         * LetterNews
         * @description What became of a request in its cell, by which record of the cell's journal.
         */
        LetterNews: {
            /** Global Id */
            global_id: number;
            /** Leases */
            leases?: number[];
            /** Number */
            number: number;
            /** Seq */
            seq: number;
            status: components["schemas"]["TakingStatus"];
        };
        /**
         * LetterOrder
         * @description One thing to do: take a request, or (left out) give back the one of that number.
         *
         *     ``unbegun``: only if it waits there, and nobody leaves for it.
         */
        LetterOrder: {
            /** Global Id */
            global_id: number;
            /** Number */
            number: number;
            request?: components["schemas"]["LeaseRequest"] | null;
            /**
             * Unbegun
             * @default false
             */
            unbegun?: boolean;
            /**
             * Waits
             * @default false
             */
            waits?: boolean;
        };
        /**
         * LetterReply
         * @description From a cell to its home: how far it is, what is new, and what is free.
         *
         *     ``held`` is how many of its requests wait or run there, and ``left`` how much that is new did
         *     not go into this reply.
         */
        LetterReply: {
            /** Done */
            done: number;
            /** Epoch */
            epoch: number;
            /**
             * Free Cpu Milli
             * @default 0
             */
            free_cpu_milli?: number;
            /**
             * Free Gpu Milli
             * @default 0
             */
            free_gpu_milli?: number;
            /** Held */
            held: number;
            /** Left */
            left: number;
            /** News */
            news?: components["schemas"]["LetterNews"][];
            /** Now Ms */
            now_ms: number;
        };
        /**
         * LifecycleEvent
         * @description The events that every instance's life is told by.
         * @enum {string}
         */
        LifecycleEvent: "requested" | "running" | "failed" | "deleting" | "deleted";
        /**
         * LifeStep
         * @description What an operator is killed under.
         * @enum {string}
         */
        LifeStep: "upgrade" | "rollback" | "delete";
        /**
         * LimitChange
         * @description One limit before and after; null where there is none.
         */
        LimitChange: {
            /** After */
            after: number | null;
            /** Before */
            before: number | null;
            /** Over */
            over: number;
            /** Used */
            used: number;
        };
        /**
         * LineMember
         * @description Whose member used it: which instance of which app, how that is run, and what for.
         */
        LineMember: {
            /** App */
            app: string;
            control_plane_scope: components["schemas"]["ControlPlaneScope"];
            /** Instance Id */
            instance_id: number;
            operating_mode: components["schemas"]["OperatingMode"];
            part: components["schemas"]["MemberPart"];
            /** Runtime Backend */
            runtime_backend: string;
        };
        /**
         * Login
         * @description A one-time login code, to be exchanged for a session's token.
         */
        Login: {
            /** Code */
            code: string;
            /**
             * Ttl S
             * @default 3600
             */
            ttl_s?: number;
        };
        /**
         * LoginProvider
         * @description Somebody else who says who a person is; ``title`` is what people call it.
         */
        LoginProvider: {
            /** Provider */
            provider: string;
            /** Title */
            title: string;
        };
        /**
         * LoginWays
         * @description How one can log in: with a one-time code, or through a provider.
         */
        LoginWays: {
            /** Code */
            code: boolean;
            /** Providers */
            providers: components["schemas"]["LoginProvider"][];
        };
        /**
         * MaintenanceCalendar
         * @description A calendar, and until when windows were planned by it.
         */
        MaintenanceCalendar: {
            /**
             * Ahead Days
             * @default 28
             */
            ahead_days?: number;
            /** Calendar */
            calendar: string;
            /** Labels */
            labels?: string[];
            /**
             * Lead Ms
             * @default 900000
             */
            lead_ms?: number;
            /** Nodes */
            nodes?: string[];
            /** Planned Ms */
            planned_ms: number;
            /** Rule */
            rule: string;
            /**
             * Text
             * @default
             */
            text?: string;
        };
        /**
         * MaintenanceWindow
         * @description A window that is planned or on.
         *
         *     ``late`` are nodes that are not in maintenance though it has begun: something there is waited
         *     for. ``calendar`` is the one by which it was planned.
         */
        MaintenanceWindow: {
            /** Calendar */
            calendar: string | null;
            /** Ends Ms */
            ends_ms: number;
            /** Late */
            late: string[];
            /** Lead Ms */
            lead_ms: number;
            /** Nodes */
            nodes: string[];
            phase: components["schemas"]["WindowPhase"];
            /** Starts Ms */
            starts_ms: number;
            /** Text */
            text: string;
            /** Window */
            window: string;
        };
        /**
         * MayDo
         * @description What the caller's keys let him ask for there, by the names of the actions.
         *
         *     A key is the first thing that is asked for. What an action is about may still refuse it: a job
         *     that has ended is not cancelled.
         */
        MayDo: {
            /** Actions */
            actions: string[];
            /** Project */
            project: string | null;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * Member
         * @description Who has which role there, or (``is_offer``) may accept it until ``expires_ms``.
         *
         *     ``home`` is the tenant that the member is of, ``fleet``, or ``another`` if it is one that you
         *     do not see.
         */
        Member: {
            /** Expires Ms */
            expires_ms?: number | null;
            /**
             * Home
             * @default fleet
             */
            home?: string;
            /**
             * Is Offer
             * @default false
             */
            is_offer?: boolean;
            /**
             * Kind
             * @default human
             * @enum {string}
             */
            kind?: "human" | "service_account" | "node" | "runtime_operator";
            /** Member */
            member: string;
            /** Role */
            role: ("fleet_admin" | "fleet_operator" | "fleet_auditor" | "node_agent" | "tenant_admin" | "tenant_auditor" | "project_admin" | "project_member" | "project_viewer") | string;
        };
        /**
         * MemberAction
         * @description What can be done to a member.
         * @enum {string}
         */
        MemberAction: "add" | "drain" | "remove" | "replace";
        /**
         * MemberChange
         * @description The role that a principal is to have there; ``null`` takes it away.
         */
        MemberChange: {
            /** Member */
            member: string;
            /** Role */
            role: ("fleet_admin" | "fleet_operator" | "fleet_auditor" | "node_agent" | "tenant_admin" | "tenant_auditor" | "project_admin" | "project_member" | "project_viewer") | string | null;
        };
        /**
         * MemberPart
         * @description What a member does for its instance: it steers the others, or does the work.
         * @enum {string}
         */
        MemberPart: "control_plane" | "workload";
        /**
         * MemberPhase
         * @description How far one member of an instance has come.
         * @enum {string}
         */
        MemberPhase: "requested" | "joining" | "ready" | "draining" | "removed" | "failed";
        /**
         * MemberSet
         * @description What became of a role: it counts with record number ``seq``, or (``is_offer``) is offered.
         *
         *     Whoever is at home elsewhere has to accept it first (``/v1/invitations``).
         */
        MemberSet: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            /**
             * Is Offer
             * @default false
             */
            is_offer?: boolean;
            /** Seq */
            seq: number | null;
        };
        /**
         * MigFailure
         * @description Why a change of MIG profiles failed.
         * @enum {string}
         */
        MigFailure: "refused_by_driver" | "not_permitted" | "not_supported" | "in_use" | "reset_required" | "no_nvml" | "profile_unknown" | "does_not_fit" | "timed_out" | "cancelled" | "fence_lost" | "departed";
        /**
         * MigOrder
         * @description What a node's agent is to make of its GPUs now; it answers with the same ``change_id``.
         */
        MigOrder: {
            /** Change Id */
            change_id: number;
            /** Gpus */
            gpus: number[];
            /** Profiles */
            profiles: string[];
        };
        /**
         * MigPhase
         * @description How far a change of MIG profiles has come.
         * @enum {string}
         */
        MigPhase: "draining" | "repartitioning" | "failed";
        /**
         * MigReport
         * @description How an agent fared with its order: the cause of its failure, or nothing if it is done.
         *
         *     ``inventory`` is what the machine has now.
         */
        MigReport: {
            cause?: components["schemas"]["MigFailure"] | null;
            /** Change Id */
            change_id: number;
            inventory?: components["schemas"]["Inventory"] | null;
        };
        /**
         * MigWish
         * @description Which GPUs of a node are to be divided into which instances; without ``profiles``, whole.
         *
         *     The node is emptied first, with ``grace_ms`` for what runs there. Then its agent has
         *     ``wait_ms``.
         */
        MigWish: {
            /** Gpus */
            gpus: number[];
            /** Grace Ms */
            grace_ms?: number | null;
            /** Profiles */
            profiles?: string[];
            /**
             * Wait Ms
             * @default 900000
             */
            wait_ms?: number;
        };
        /**
         * MintDenial
         * @description Why a token was not minted.
         * @enum {string}
         */
        MintDenial: "no_such_lease" | "not_owner" | "lease_ending" | "stale_generation" | "node_quarantined" | "wrong_audience" | "no_operation" | "ttl_too_long" | "node_mints";
        /**
         * ModeChange
         * @description Where to move a node in the mode table, and why; to ``draining`` evicts.
         *
         *     With ``evict`` false a drain evicts nobody: what runs there may end by itself, but no term grows
         *     any more, and the node is ``drained`` once it is empty. A node that is only to take no new work
         *     is ``cordoned``.
         */
        ModeChange: {
            /**
             * Evict
             * @default true
             */
            evict?: boolean;
            /** Grace Ms */
            grace_ms?: number | null;
            mode: components["schemas"]["NodeMode"];
            /**
             * Reason
             * @default operator_drain
             * @enum {string}
             */
            reason?: "operator_drain" | "operator_mig_profile_change" | "maintenance_window" | "policy_violation_recovery";
        };
        /**
         * ModeConsequence
         * @description What a change of a node's mode would do.
         */
        ModeConsequence: {
            /** Elsewhere */
            elsewhere: number;
            /** Gangs */
            gangs: number;
            /** Leases */
            leases: components["schemas"]["LeavingLease"][];
            /** Leaving */
            leaving: number;
            /** Room */
            room: components["schemas"]["RoomLeft"][];
            /** Staying */
            staying: number;
            /** Until Ms */
            until_ms: number | null;
        };
        /**
         * ModeSet
         * @description A node has another mode; or (dry run) what that would do.
         *
         *     ``mode`` is told of a node that was opened, or (dry run) would be: ``returning`` is one that is
         *     tested before it takes work.
         */
        ModeSet: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            consequence?: components["schemas"]["ModeConsequence"] | null;
            mode?: components["schemas"]["NodeMode"] | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * NewAccount
         * @description A service account to be made; without a tenant it is the fleet's.
         */
        NewAccount: {
            /** Account */
            account: string;
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * NewApp
         * @description A version to be published: its manifest, and for a first one who is to see the app.
         */
        NewApp: {
            /** Document */
            document: string;
            /**
             * Is Draft
             * @default false
             */
            is_draft?: boolean;
            /** Tenant */
            tenant?: string | null;
            /** @default private */
            visibility?: components["schemas"]["AppVisibility"];
        };
        /**
         * NewAppCheck
         * @description What who checked a version saw; what was not tried is left out.
         */
        NewAppCheck: {
            connections?: components["schemas"]["WatchedConnections"] | null;
            /** Digest */
            digest: string;
            /** First Seq */
            first_seq: number;
            /** Foreign */
            foreign?: components["schemas"]["ForeignAnswer"][];
            /** Heard */
            heard?: components["schemas"]["HeardEvent"][];
            /** Instance Id */
            instance_id: number;
            /** Kills */
            kills?: components["schemas"]["OperatorKill"][];
            /** Last Seq */
            last_seq: number;
            /** Operator */
            operator?: string | null;
            policy?: components["schemas"]["PolicyAnswer"] | null;
            /** Project */
            project: string;
            runbook?: components["schemas"]["RunbookCommands"] | null;
            /** Tenant */
            tenant: string;
        };
        /**
         * NewArtifact
         * @description Bytes that apps may be made of, by digest; nothing is known of their origin yet.
         */
        NewArtifact: {
            /** Digest */
            digest: string;
            kind: components["schemas"]["ArtifactKind"];
            /** Project */
            project?: string | null;
            /** Source */
            source: string;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * NewBooking
         * @description Nodes to keep from one time to another.
         */
        NewBooking: {
            /** Booking */
            booking: string;
            /**
             * Count
             * @default 0
             */
            count?: number;
            /** Ends Ms */
            ends_ms: number;
            generation?: components["schemas"]["HardwareGeneration"] | null;
            /**
             * Gpus
             * @default 0
             */
            gpus?: number;
            /** Labels */
            labels?: string[];
            /** Nodes */
            nodes?: string[];
            /** Starts Ms */
            starts_ms: number;
            /**
             * Text
             * @default
             */
            text?: string;
            /** Wait Ms */
            wait_ms?: number | null;
        };
        /**
         * NewBudget
         * @description A budget to be set; what was spent of its period before is metered, unless it is said.
         */
        NewBudget: {
            /** Cap Micros */
            cap_micros?: number | null;
            /**
             * From Ms
             * @default 0
             */
            from_ms?: number;
            /** Limit Micros */
            limit_micros: number;
            /** Opening Micros */
            opening_micros?: number | null;
            /** Thresholds */
            thresholds?: number[];
            /** Until Ms */
            until_ms?: number | null;
        };
        /**
         * NewCall
         * @description What an instance is asked: words as a program is given them, and what it reads.
         */
        NewCall: {
            /** Argv */
            argv: string[];
            /**
             * Stdin
             * @default
             */
            stdin?: string;
            /**
             * Wait S
             * @default 20
             */
            wait_s?: number;
            /**
             * Within S
             * @default 60
             */
            within_s?: number;
        };
        /**
         * NewExec
         * @description A program to run inside a job that runs: on a terminal, or with three files.
         */
        NewExec: {
            /**
             * Attach
             * @default false
             */
            attach?: boolean;
            /** Command */
            command?: string[];
            copy_files?: components["schemas"]["ExecCopy"] | null;
            /**
             * Member
             * @default 0
             */
            member?: number;
            terminal?: components["schemas"]["ExecTerminal"] | null;
        };
        /**
         * NewGraph
         * @description A graph, as its file is written; ``executor`` runs all of it, if it is named.
         */
        NewGraph: {
            /** Document */
            document: string;
            /** Executor */
            executor?: string | null;
            /** Project */
            project?: string | null;
            /** Reuses */
            reuses?: number | null;
            /** Tenant */
            tenant: string;
        };
        /**
         * NewInstance
         * @description An app that a project wants to run: which version, with what, how large.
         */
        NewInstance: {
            /** App */
            app: string;
            /** @default project */
            control_plane_scope?: components["schemas"]["ControlPlaneScope"];
            /** Counts */
            counts?: {
                [key: string]: number;
            };
            /**
             * Metadata
             * @default
             */
            metadata?: string;
            /** Name */
            name: string;
            /** @default tenant_dedicated */
            operating_mode?: components["schemas"]["OperatingMode"];
            /** Parameters */
            parameters?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** Version */
            version: string;
        };
        /**
         * NewInvoice
         * @description An invoice to be issued: of a tenant, or with ``project`` of that, for a period that is over.
         *
         *     A tenant's invoice has the lines of all its projects.
         */
        NewInvoice: {
            /** From Ms */
            from_ms: number;
            /** Project */
            project?: string | null;
            /** To Ms */
            to_ms: number;
        };
        /**
         * NewJob
         * @description What to run, and the request for what it runs on; it lands only where jobs can be run.
         */
        NewJob: {
            /** After */
            after?: string[];
            /** Array */
            array?: string | null;
            /** Checkpoint */
            checkpoint?: string | null;
            /** Command */
            command: string[];
            /** Cwd */
            cwd?: string | null;
            /** Deadline Ms */
            deadline_ms?: number | null;
            /** Env */
            env?: {
                [key: string]: string;
            };
            exclusivity?: components["schemas"]["Exclusivity"] | null;
            /**
             * Gang Size
             * @default 1
             */
            gang_size?: number;
            /**
             * Gpu Count
             * @default 0
             */
            gpu_count?: number;
            gpu_generation?: components["schemas"]["HardwareGeneration"] | null;
            /**
             * Gpu Milli
             * @default 0
             */
            gpu_milli?: number;
            /** Gpu Models */
            gpu_models?: string[];
            /**
             * Gpu Vram
             * @default 0
             */
            gpu_vram?: number;
            /** Image */
            image?: string | null;
            /**
             * Interactive
             * @default false
             */
            interactive?: boolean;
            /** Job Labels */
            job_labels?: string[];
            /** Labels */
            labels?: string[];
            /** @default standard */
            lease_class?: components["schemas"]["LeaseClass"];
            /** Name */
            name?: string | null;
            /** On */
            on?: string | null;
            /**
             * Preemptible On Budget
             * @default false
             */
            preemptible_on_budget?: boolean;
            /** @default normal */
            priority?: components["schemas"]["Priority"];
            /** Project */
            project?: string | null;
            /**
             * @default {
             *       "block_bytes": 0,
             *       "cpu_milli": 0,
             *       "mem_bytes": 0
             *     }
             */
            resources?: components["schemas"]["Resources"];
            /**
             * Retries
             * @default 0
             */
            retries?: number;
            /** Retry On */
            retry_on?: components["schemas"]["FailureCategory"][] | null;
            /** Scheduler Type */
            scheduler_type?: string | null;
            /** Tag */
            tag?: string | null;
            /** Tenant */
            tenant: string;
            /**
             * Ttl Ms
             * @default 3600000
             */
            ttl_ms?: number;
            /**
             * Wait
             * @default true
             */
            wait?: boolean;
        };
        /**
         * NewNode
         * @description A machine that joins the fleet.
         */
        NewNode: {
            /** Gpus */
            gpus?: components["schemas"]["Gpu"][];
            /** Labels */
            labels?: string[];
            /** Node */
            node: string;
            resources: components["schemas"]["Resources"];
            topology?: components["schemas"]["Topology"];
        };
        /**
         * NewNodeKind
         * @description What each new node was taken to have: the same as one that is there.
         */
        NewNodeKind: {
            /** Gpus */
            gpus: components["schemas"]["Gpu"][];
            resources: components["schemas"]["Held"];
        };
        /**
         * NewNonce
         * @description What a node is to answer, once and until then; empty in a dry run.
         */
        NewNonce: {
            /** Expires Ms */
            expires_ms: number;
            /** Node */
            node: string;
            /** Nonce */
            nonce: string;
        };
        /**
         * NewNote
         * @description One line about a node, and how long it is to stand there.
         */
        NewNote: {
            /** Text */
            text: string;
            /** Ttl Ms */
            ttl_ms: number;
        };
        /**
         * NewOperation
         * @description Work that the operator begins.
         */
        NewOperation: {
            /** Title */
            title: string;
        };
        /**
         * NewOperatorToken
         * @description For how long the operator of a runtime is let in.
         */
        NewOperatorToken: {
            /**
             * Ttl S
             * @default 3600
             */
            ttl_s?: number;
        };
        /**
         * NewProject
         * @description A project to be made.
         */
        NewProject: {
            /**
             * Display Name
             * @default
             */
            display_name?: string;
            /** Project */
            project: string;
        };
        /**
         * NewPullCredential
         * @description Leave to pull an artifact of an instance while an operation on it goes on.
         */
        NewPullCredential: {
            /** Audience */
            audience?: string | null;
            /** Digest */
            digest: string;
            /** Instance Id */
            instance_id: number;
            /** Operation Id */
            operation_id: number;
            /**
             * Ttl S
             * @default 300
             */
            ttl_s?: number;
        };
        /**
         * NewRates
         * @description A card to be set: with ``tenant`` for that one alone, at once or from ``effective_ms`` on.
         */
        NewRates: {
            /** App Unit Micros */
            app_unit_micros?: {
                [key: string]: number;
            };
            /** Block Micros Per Gib Hour */
            block_micros_per_gib_hour: number;
            /** Class Per Mille */
            class_per_mille: {
                [key: string]: number;
            };
            /** Core Micros Per Hour */
            core_micros_per_hour: number;
            /** Currency */
            currency: string;
            /**
             * Effective Ms
             * @default 0
             */
            effective_ms?: number;
            /** Gpu Micros Per Hour */
            gpu_micros_per_hour: {
                [key: string]: number;
            };
            /** Mem Micros Per Gib Hour */
            mem_micros_per_gib_hour: number;
            /**
             * Name
             * @default list
             */
            name?: string;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * NewSession
         * @description A one-time login code, to be exchanged for a browser's session.
         */
        NewSession: {
            /** Code */
            code: string;
            /**
             * Ttl S
             * @default 3600
             */
            ttl_s?: number;
        };
        /**
         * NewSettlement
         * @description What use of another's workers is to be worth; no rates: nothing.
         *
         *     Without ``accepted_digest`` it is only asked what the rule would be.
         */
        NewSettlement: {
            /** Rates */
            rates?: {
                [key: string]: number;
            };
        };
        /**
         * NewShare
         * @description What a tenant weighs among tenants, or a project among its tenant's.
         */
        NewShare: {
            /** Share */
            share: number;
        };
        /**
         * NewSharedRuntime
         * @description The same, with the digest of the plan that was accepted.
         */
        NewSharedRuntime: {
            /** Accepted Digest */
            accepted_digest: string;
            /** App */
            app: string;
            /** Controller */
            controller?: {
                [key: string]: string;
            };
            /** Counts */
            counts?: {
                [key: string]: number;
            };
            /** Environment */
            environment: string;
            /** Parameters */
            parameters?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** Project */
            project: string;
            /** Rates */
            rates?: {
                [key: string]: number;
            };
            /** Runtime */
            runtime: string;
            /** Version */
            version: string;
            /**
             * Withdraw Within Ms
             * @default 300000
             */
            withdraw_within_ms?: number;
        };
        /**
         * NewSharedSubmit
         * @description What a shared runtime is asked to take, and into whose queue.
         */
        NewSharedSubmit: {
            /** Argv */
            argv: string[];
            /** Owner */
            owner?: string | null;
            /** Queue */
            queue?: string | null;
            /**
             * Stdin
             * @default
             */
            stdin?: string;
            /**
             * Wait S
             * @default 20
             */
            wait_s?: number;
            /**
             * Within S
             * @default 60
             */
            within_s?: number;
        };
        /**
         * NewSharedUse
         * @description All that was used on whose workers in a time that is over; what is not there was not.
         */
        NewSharedUse: {
            /** From Ms */
            from_ms: number;
            /** Rows */
            rows: components["schemas"]["SharedUseEntry"][];
            /** To Ms */
            to_ms: number;
        };
        /**
         * NewSubmitPolicy
         * @description Who may use a queue of the project, and until when: a project or a person.
         */
        NewSubmitPolicy: {
            /** Grantee Person */
            grantee_person?: string | null;
            /** Grantee Project */
            grantee_project?: string | null;
            /** Limits */
            limits?: {
                [key: string]: number;
            };
            /** Queue */
            queue: string;
            /** Until Ms */
            until_ms: number;
        };
        /**
         * NewTenant
         * @description A tenant to be made.
         */
        NewTenant: {
            /**
             * Display Name
             * @default
             */
            display_name?: string;
            /** Tenant */
            tenant: string;
        };
        /**
         * NewToken
         * @description A token to be made; ``keys`` are all it carries, ``single_use`` makes it a login code.
         */
        NewToken: {
            /** Keys */
            keys?: ("scheduler.catalog.read" | "scheduler.instance.read" | "scheduler.instance.create" | "scheduler.instance.update" | "scheduler.instance.delete" | "scheduler.queue.submit" | "scheduler.queue.read" | "scheduler.queue.cancel" | "scheduler.node.read" | "scheduler.node.operate" | "scheduler.node.report" | "scheduler.job.exec" | "scheduler.endpoint.open" | "scheduler.lease.read" | "scheduler.lease.hold" | "scheduler.lease.evict" | "scheduler.quota.read" | "scheduler.quota.set" | "scheduler.project_quota.set" | "scheduler.booking.read" | "scheduler.booking.manage" | "scheduler.settings.read" | "scheduler.settings.set" | "scheduler.isolation.read" | "scheduler.isolation.set" | "scheduler.catalog.publish" | "scheduler.entitlement.set" | "scheduler.artifact.manage" | "scheduler.webhook.manage" | "scheduler.shared_runtime.read" | "scheduler.shared_runtime.manage" | "scheduler.shared_runtime.join" | "scheduler.host_privilege.grant" | "scheduler.cell.read" | "scheduler.cell.operate" | "scheduler.cell.home" | "iam.tenant.read" | "iam.tenant.manage" | "iam.project.manage" | "iam.role.manage" | "iam.member.read" | "iam.member.manage" | "iam.service_account.read" | "iam.service_account.manage" | "iam.token.issue" | "iam.token.revoke" | "journal.record.read" | "metering.usage.read" | "metering.finding.report" | "billing.rate_card.read" | "billing.rate_card.set" | "billing.budget.read" | "billing.budget.set" | "billing.project_budget.set" | "billing.invoice.read" | "billing.invoice.issue" | "telemetry.metrics.read" | "telemetry.trace.read" | "iam.break_glass.use")[] | null;
            /**
             * Kind
             * @default human
             * @enum {string}
             */
            kind?: "human" | "service_account" | "node" | "runtime_operator";
            /** Principal */
            principal: string;
            /**
             * Single Use
             * @default false
             */
            single_use?: boolean;
            /**
             * Ttl S
             * @default 3600
             */
            ttl_s?: number;
        };
        /**
         * NewWindow
         * @description A window of maintenance to announce.
         *
         *     ``lead_ms`` before ``starts_ms`` the nodes are closed, and what would still run there is warned.
         */
        NewWindow: {
            /** Ends Ms */
            ends_ms: number;
            /**
             * Lead Ms
             * @default 900000
             */
            lead_ms?: number;
            /** Nodes */
            nodes: string[];
            /** Starts Ms */
            starts_ms: number;
            /**
             * Text
             * @default
             */
            text?: string;
            /** Window */
            window: string;
        };
        /**
         * Node
         * @description A machine, what it has, whether it takes leases, and what is known of its life and trust.
         *
         *     ``unheard`` is a node that has sent no heartbeat to the server that answers; it may have nobody
         *     who does. ``claims`` (``KIND.CLAIM``) is what its evidence proves now, and ``attested_ms`` when
         *     that was last judged. ``job_mode`` is how the jobs that run there are kept apart, and
         *     ``agent_version`` what runs them, if it is the node's own agent. ``host_members`` says whether
         *     members of apps that were granted it run on the host there.
         *
         *     ``maintained_ms`` is when its next maintenance begins, or began, and ``booked_ms`` when
         *     it is booked next, or is booked now, whoever for. ``mig`` is there while its GPUs are
         *     repartitioned, and after that has failed. ``health`` is what its agent found, for who may
         *     read the whole fleet.
         *
         *     ``labels`` has what the machine says itself and ``labels_given``, which an operator gave it.
         *
         *     ``free`` is what whoever asks could be given there now, whatever others hold, and
         *     ``gpus_free_milli`` the same of each device, in the order of ``gpus``. Of a machine that is
         *     closed, or that a policy closes to him, it is nothing. A quota may leave less.
         *
         *     ``gpus_held_milli`` is what leases hold of each device, ``leases`` how many there are and
         *     ``holders`` the first 64 of them, of those that whoever asks may read. ``notes`` are for who may
         *     read the whole fleet.
         */
        Node: {
            /** Agent Version */
            agent_version?: string | null;
            attestation: components["schemas"]["AttestationState"];
            /** Attested Ms */
            attested_ms: number | null;
            /** Booked Ms */
            booked_ms?: number | null;
            /** Booked Until Ms */
            booked_until_ms?: number | null;
            /** Claims */
            claims: {
                [key: string]: string;
            };
            free?: components["schemas"]["Held"] | null;
            /** Gpus */
            gpus: components["schemas"]["Gpu"][];
            /** Gpus Free Milli */
            gpus_free_milli?: number[];
            /** Gpus Held Milli */
            gpus_held_milli?: number[];
            health?: components["schemas"]["HealthStanding"] | null;
            /** Holders */
            holders?: components["schemas"]["NodeHolder"][];
            /**
             * Host Members
             * @default false
             */
            host_members?: boolean;
            /** Job Mode */
            job_mode?: ("sandbox" | "users" | "trusted" | "closed") | null;
            /** Labels */
            labels: string[];
            /** Labels Given */
            labels_given?: string[];
            /** Last Seen Ms */
            last_seen_ms: number | null;
            /**
             * Leases
             * @default 0
             */
            leases?: number;
            /**
             * Liveness
             * @enum {string}
             */
            liveness: "alive" | "late" | "departed" | "unheard";
            /** Maintained Ms */
            maintained_ms?: number | null;
            mig?: components["schemas"]["NodeMig"] | null;
            mode: components["schemas"]["NodeMode"];
            /** Node */
            node: string;
            /** Notes */
            notes?: components["schemas"]["NodeNote"][];
            /** Quarantined */
            quarantined: boolean;
            resources: components["schemas"]["Held"];
            /** Takes Leases */
            takes_leases: boolean;
            topology?: components["schemas"]["Topology"];
        };
        /**
         * NodeAttestation
         * @description How far a node is trusted, what is asked of it, and why it stands as it does.
         */
        NodeAttestation: {
            /** Enrolments */
            enrolments: components["schemas"]["EnrolmentRow"][];
            /** Max Age Ms */
            max_age_ms: number | null;
            /** Node */
            node: string;
            /** Pool */
            pool: string | null;
            /** Quarantined */
            quarantined: boolean;
            /** Refresh Ms */
            refresh_ms: number | null;
            /** Require */
            require: string | null;
            /** Standing */
            standing: components["schemas"]["KindStanding"][];
            state: components["schemas"]["AttestationState"];
        };
        /**
         * NodeBooked
         * @description A booking closes the lease's node to it from ``until_ms``; up to then its term may grow.
         */
        NodeBooked: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "node_booked";
            /** Longest Ms */
            longest_ms: number;
            /** Node */
            node: string;
            reason: components["schemas"]["PendingReason"];
            /** Requested Ms */
            requested_ms: number;
            /** Until Ms */
            until_ms: number;
        };
        /**
         * NodeClosed
         * @description The node of the lease takes none now, so its term does not grow there.
         */
        NodeClosed: {
            closed_by: components["schemas"]["FilterReason"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "node_closed";
            /** Node */
            node: string;
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * NodeExec
         * @description A program to run inside a job of a node.
         */
        NodeExec: {
            /**
             * Attach
             * @default false
             */
            attach?: boolean;
            /** Command */
            command: string[];
            connect?: components["schemas"]["ExecConnect"] | null;
            copy_files?: components["schemas"]["ExecCopy"] | null;
            /** Exec Id */
            exec_id: string;
            /** Lease Id */
            lease_id: number;
            terminal: components["schemas"]["ExecTerminal"] | null;
        };
        /**
         * NodeExecs
         * @description Those that no agent has taken up yet.
         */
        NodeExecs: {
            /** Items */
            items: components["schemas"]["NodeExec"][];
            /** Node */
            node: string;
        };
        /**
         * NodeExecsQuestion
         * @description An agent that began at ``life`` asks what is to be run inside its jobs.
         */
        NodeExecsQuestion: {
            /** Life */
            life: number;
            /**
             * Wait S
             * @default 0
             */
            wait_s?: number;
        };
        /**
         * NodeFinding
         * @description One thing that is wrong with a machine: ``value`` was found where ``limit`` is the most.
         *
         *     Without ``gpu`` it is the machine itself. ``code`` is the driver's own number.
         */
        NodeFinding: {
            check: components["schemas"]["HealthCheck"];
            /**
             * Code
             * @default 0
             */
            code?: number;
            /** Gpu */
            gpu?: number | null;
            level: components["schemas"]["HealthLevel"];
            /**
             * Limit
             * @default 0
             */
            limit?: number;
            /**
             * Value
             * @default 0
             */
            value?: number;
        };
        /**
         * NodeHolder
         * @description A lease on a node, whose it is, and its share of each of the devices that it has there.
         *
         *     ``fenced`` is one that is over, and of which something may still run: an operator clears it.
         *     ``fenced_ms`` is since when, told where one node is read.
         */
        NodeHolder: {
            /** Cpu Milli */
            cpu_milli: number;
            /** Device Milli */
            device_milli: number;
            /** Devices */
            devices: number[];
            /** Ending */
            ending: boolean;
            /** Expires Ms */
            expires_ms: number;
            /**
             * Fenced
             * @default false
             */
            fenced?: boolean;
            /** Fenced Ms */
            fenced_ms?: number | null;
            lease_class: components["schemas"]["LeaseClass"];
            /** Lease Id */
            lease_id: number;
            /** Project */
            project: string | null;
            /** Tenant */
            tenant: string;
        };
        /**
         * NodeKeptApart
         * @description By this rule of the isolation policy a lease may not stay so long on its node.
         */
        NodeKeptApart: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "node_kept_apart";
            /** Node */
            node: string;
            reason: components["schemas"]["PendingReason"];
            /** Rule */
            rule: string;
        };
        /**
         * NodeLabels
         * @description Labels to give a node (``KEY=VALUE``), and keys of those to take away that were given so.
         */
        NodeLabels: {
            /** Drop */
            drop?: string[];
            /** Put */
            put?: string[];
        };
        /**
         * NodeMaintained
         * @description The lease's node is maintained from ``starts_ms``; up to ``longest_ms`` its term may grow.
         */
        NodeMaintained: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "node_maintained";
            /** Longest Ms */
            longest_ms: number;
            /** Node */
            node: string;
            reason: components["schemas"]["PendingReason"];
            /** Requested Ms */
            requested_ms: number;
            /** Starts Ms */
            starts_ms: number;
        };
        /**
         * NodeMig
         * @description How far a change of a node's MIG profiles has come, or why it failed.
         *
         *     ``due_ms`` is until when its agent has to answer, once the node is empty.
         */
        NodeMig: {
            /** Begun Ms */
            begun_ms: number;
            cause?: components["schemas"]["MigFailure"] | null;
            /** Change Id */
            change_id: number;
            /** Due Ms */
            due_ms?: number | null;
            /** Gpus */
            gpus: number[];
            phase: components["schemas"]["MigPhase"];
            /** Profiles */
            profiles: string[];
        };
        /**
         * NodeMode
         * @description What an operator has said about a node.
         * @enum {string}
         */
        NodeMode: "accepting" | "draining" | "drained" | "maintenance" | "returning" | "fence_lost" | "cordoned";
        /**
         * NodeNote
         * @description A line that somebody who runs the fleet wrote about a node; its number ends it.
         */
        NodeNote: {
            /** Author */
            author: string;
            /** Note Id */
            note_id: number;
            /** Since Ms */
            since_ms: number;
            /** Text */
            text: string;
            /** Until Ms */
            until_ms: number;
        };
        /**
         * NodesBooked
         * @description It would last too long on nodes that are booked; the last is open to it until ``until_ms``.
         *
         *     Until then a term of ``longest_ms`` might fit there.
         */
        NodesBooked: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "nodes_booked";
            /** Longest Ms */
            longest_ms: number;
            /** Nodes */
            nodes: number;
            reason: components["schemas"]["PendingReason"];
            /** Until Ms */
            until_ms: number;
        };
        /**
         * NodesClosed
         * @description All nodes that could hold it are closed.
         */
        NodesClosed: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "nodes_closed";
            /** Nodes */
            nodes: number;
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * NodesForbidden
         * @description Nodes have the hardware, but policy lets the request use none of them.
         */
        NodesForbidden: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "nodes_forbidden";
            /** Nodes */
            nodes: number;
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * NodesKeptApart
         * @description Policy keeps it apart from what runs now, wherever it would fit; mostly by this rule.
         */
        NodesKeptApart: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "nodes_kept_apart";
            /** Nodes */
            nodes: number;
            reason: components["schemas"]["PendingReason"];
            /** Rule */
            rule?: string | null;
        };
        /**
         * NodesMaintained
         * @description It would not have ended when nodes are maintained, the last of them from ``starts_ms``.
         *
         *     Until then a term of ``longest_ms`` might fit there.
         */
        NodesMaintained: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "nodes_maintained";
            /** Longest Ms */
            longest_ms: number;
            /** Nodes */
            nodes: number;
            reason: components["schemas"]["PendingReason"];
            /** Starts Ms */
            starts_ms: number;
        };
        /**
         * NodeTestCause
         * @description Why a node is tested.
         * @enum {string}
         */
        NodeTestCause: "returning" | "idle" | "asked";
        /**
         * NodeTestOrder
         * @description The test that a node's agent is to carry out now; it answers with the same number.
         */
        NodeTestOrder: {
            /** Test Id */
            test_id: number;
        };
        /**
         * NodeTestOutcome
         * @description How a node's test ended.
         * @enum {string}
         */
        NodeTestOutcome: "passed" | "failed" | "timed_out" | "cancelled";
        /**
         * NodeTestReport
         * @description What a test found; nothing that fails, and it is passed.
         */
        NodeTestReport: {
            /** Findings */
            findings?: components["schemas"]["NodeFinding"][];
            /** Test Id */
            test_id: number;
            /**
             * Took Ms
             * @default 0
             */
            took_ms?: number;
        };
        /**
         * NodeTicket
         * @description A text for whoever repairs a machine: what was found, since when, and what to do next.
         */
        NodeTicket: {
            /** Node */
            node: string;
            /** Text */
            text: string;
            /** Title */
            title: string;
        };
        /**
         * NodeTokenWish
         * @description What a token is to allow that a node wants to mint with its own key, for a lease on it.
         */
        NodeTokenWish: {
            /** Generation */
            generation?: number | null;
            /** Lease Id */
            lease_id: number;
            /** Operations */
            operations: components["schemas"]["Operation"][];
            /**
             * Ttl Ms
             * @default 300000
             */
            ttl_ms?: number;
        };
        /**
         * NodeTyped
         * @description What was typed; ``is_over`` says that the program is to end.
         */
        NodeTyped: {
            /** Data */
            data: string;
            /** Is Closed */
            is_closed: boolean;
            /** Is Over */
            is_over: boolean;
            terminal: components["schemas"]["ExecTerminal"] | null;
        };
        /**
         * NodeTypedQuestion
         * @description From where an agent wants what was typed.
         */
        NodeTypedQuestion: {
            /** Life */
            life: number;
            /**
             * Offset
             * @default 0
             */
            offset?: number;
            /**
             * Wait S
             * @default 0
             */
            wait_s?: number;
        };
        /**
         * NodeWork
         * @description What changed for a node after the version that was named, up to this one.
         *
         *     ``terms`` are of all its leases that nobody ends yet.
         */
        NodeWork: {
            /** Items */
            items: components["schemas"]["WorkItem"][];
            /** Node */
            node: string;
            /** Terms */
            terms?: components["schemas"]["LeaseTerm"][];
            /** Version */
            version: number;
        };
        /**
         * NodeWritten
         * @description What a program of a node wrote from an offset on, or how it ended.
         */
        NodeWritten: {
            /**
             * Data
             * @default
             */
            data?: string;
            end?: components["schemas"]["ExecEnd"] | null;
            /** Exit Code */
            exit_code?: number | null;
            /** Life */
            life: number;
            /**
             * Note
             * @default
             */
            note?: string;
            /** Offset */
            offset: number;
            /** Signal */
            signal?: number | null;
            /** @default stdout */
            stream?: components["schemas"]["ExecStream"];
            /**
             * Wait S
             * @default 0
             */
            wait_s?: number;
        };
        /**
         * NodeWrittenTaken
         * @description Up to where it was taken; ``is_over`` says that nothing more is wanted.
         */
        NodeWrittenTaken: {
            /** Is Over */
            is_over: boolean;
            /** Next Offset */
            next_offset: number | null;
        };
        /**
         * NoSuchHardware
         * @description No node, busy or not, has the devices or labels that were named.
         */
        NoSuchHardware: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "no_such_hardware";
            /** Nodes */
            nodes: number;
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * NotEnoughFree
         * @description Less is free on suitable nodes, all together, than was asked for.
         */
        NotEnoughFree: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "not_enough_free";
            /** Free */
            free: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
            resource: components["schemas"]["ResourceKind"];
        };
        /**
         * NotHonoured
         * @description What nobody who may run it could give: what was asked for, and in which steps it is given.
         */
        NotHonoured: {
            /** Asked */
            asked: number | string;
            /** Executor */
            executor: string;
            /** Step */
            step: number | null;
            what: components["schemas"]["Unhonoured"];
        };
        /**
         * NoticeChange
         * @description What is to be otherwise; what is left out stays, an empty text ends it.
         */
        NoticeChange: {
            /** Choices */
            choices?: components["schemas"]["NoticeChoice"][];
            /** Email */
            email?: string | null;
            /** Webhook Url */
            webhook_url?: string | null;
        };
        /**
         * NoticeChannel
         * @description By which way.
         * @enum {string}
         */
        NoticeChannel: "inbox" | "email" | "webhook";
        /**
         * NoticeChoice
         * @description By which ways one is told of something; by none, with an empty list.
         */
        NoticeChoice: {
            /** Channels */
            channels: components["schemas"]["NoticeChannel"][];
            kind: components["schemas"]["NoticeKind"];
        };
        /**
         * NoticeCode
         * @description The code that was mailed.
         */
        NoticeCode: {
            /** Code */
            code: string;
        };
        /**
         * NoticeDelivery
         * @description What became of the last notice that was sent by one way.
         */
        NoticeDelivery: {
            channel: components["schemas"]["NoticeChannel"];
            fault: components["schemas"]["DeliveryFault"] | null;
            state: components["schemas"]["DeliveryState"];
            /** Status */
            status: number | null;
            /** Tried Ms */
            tried_ms: number | null;
            /** Tries */
            tries: number;
        };
        /**
         * NoticeKind
         * @description What somebody is told of.
         * @enum {string}
         */
        NoticeKind: "job_ended" | "graph_ended" | "preemption_announced" | "budget_reached" | "node_drained" | "node_lost" | "finding_reported" | "isolation_violated" | "many_more" | "test";
        /**
         * NoticeSettings
         * @description What one chose; ``secret`` is told once, when it is made.
         */
        NoticeSettings: {
            /** Choices */
            choices: components["schemas"]["NoticeChoice"][];
            /** Deliveries */
            deliveries: components["schemas"]["NoticeDelivery"][];
            /** Email */
            email: string | null;
            /** Pending Email */
            pending_email: string | null;
            /** Secret */
            secret?: string | null;
            /** Sends Mail */
            sends_mail: boolean;
            /** Webhook Url */
            webhook_url: string | null;
            /** Withheld */
            withheld: number;
        };
        /**
         * NoticeTested
         * @description By which ways a test notice goes out.
         */
        NoticeTested: {
            /** Channels */
            channels: components["schemas"]["NoticeChannel"][];
        };
        /**
         * OfferNone
         * @description It may neither run nor wait there.
         */
        OfferNone: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            offer: "cannot_run";
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * OfferRoom
         * @description It would run there once others had left, whose loss is reckoned at ``cost``.
         */
        OfferRoom: {
            /** Cost */
            cost: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            offer: "can_make_room";
            /** Ready Ms */
            ready_ms: number;
        };
        /**
         * OfferStart
         * @description It would run there at once.
         */
        OfferStart: {
            /** Free Cpu Milli */
            free_cpu_milli: number;
            /** Free Gpu Milli */
            free_gpu_milli: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            offer: "can_start";
        };
        /**
         * OfferWait
         * @description It would wait there, and start by then as far as can be told.
         */
        OfferWait: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            offer: "can_wait";
            reason: components["schemas"]["PendingReason"];
            /** Starts Ms */
            starts_ms: number | null;
        };
        /**
         * OperatingMode
         * @description Who runs an app's control plane.
         * @enum {string}
         */
        OperatingMode: "tenant_dedicated" | "platform_managed";
        /**
         * Operation
         * @description What a capability token lets its bearer do with a lease's resource.
         * @enum {string}
         */
        Operation: "mem_read" | "mem_write" | "block_read" | "block_write" | "gpu_submit" | "task_submit" | "lease_renew";
        /**
         * OperationDone
         * @description It took effect as this operation; ``null`` if it was a dry run.
         */
        OperationDone: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            /** Operation Id */
            operation_id: number | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * OperationKind
         * @description What a piece of work on an instance is; a task is its operator's own.
         * @enum {string}
         */
        OperationKind: "create" | "change" | "upgrade" | "rollback" | "delete" | "member_add" | "member_drain" | "member_remove" | "member_replace" | "task";
        /**
         * OperationPhase
         * @description How far a piece of work on an instance has come.
         * @enum {string}
         */
        OperationPhase: "pending" | "running" | "succeeded" | "failed";
        /**
         * OperationProgress
         * @description How far work is; never back.
         */
        OperationProgress: {
            /** Log */
            log?: string[];
            /** Progress */
            progress?: number | null;
        };
        /**
         * OperationResult
         * @description What came of work that the operator began.
         */
        OperationResult: {
            /** Is Succeeded */
            is_succeeded: boolean;
            /**
             * Result
             * @default
             */
            result?: string;
        };
        /**
         * OperatorKill
         * @description The operator was ended with ``kill -9`` when ``seq`` was the newest record.
         */
        OperatorKill: {
            /** Seq */
            seq: number;
            step: components["schemas"]["LifeStep"];
        };
        /**
         * OperatorToken
         * @description A token that is good for one runtime and the instance behind it; shown this once.
         */
        OperatorToken: {
            /** Expires Ms */
            expires_ms: number;
            /** Principal */
            principal: string;
            /** Token */
            token: string | null;
            /** Token Id */
            token_id: string;
        };
        /**
         * OutputPosition
         * @description Where a job's output goes on; nowhere (null) if nothing more is wanted.
         */
        OutputPosition: {
            /** Lease Id */
            lease_id: number;
            /** Next Offset */
            next_offset: number | null;
        };
        /**
         * OutputReport
         * @description What jobs of a node printed.
         */
        OutputReport: {
            /** Life */
            life: number;
            /** Pieces */
            pieces: components["schemas"]["PrintedPiece"][];
        };
        /**
         * OutputTaken
         * @description How far the output of each job has come.
         */
        OutputTaken: {
            /** Node */
            node: string;
            /** Positions */
            positions: components["schemas"]["OutputPosition"][];
        };
        /**
         * Overlay
         * @description What a line narrows: lists of what is allowed, lists of what is denied, numbers.
         *
         *     What is ``null`` is not narrowed; an empty list allows nothing.
         */
        Overlay: {
            /** Channels */
            channels?: components["schemas"]["Channel"][] | null;
            /** Deny Channels */
            deny_channels?: components["schemas"]["Channel"][] | null;
            /** Deny Operating Modes */
            deny_operating_modes?: components["schemas"]["OperatingMode"][] | null;
            /** Deny Regions */
            deny_regions?: string[] | null;
            /** Deny Skus */
            deny_skus?: string[] | null;
            /** Deny Sources */
            deny_sources?: string[] | null;
            /** Deny Versions */
            deny_versions?: string[] | null;
            /** Instances Max */
            instances_max?: number | null;
            /** Members Max */
            members_max?: number | null;
            /** Operating Modes */
            operating_modes?: components["schemas"]["OperatingMode"][] | null;
            /** Regions */
            regions?: string[] | null;
            /** Skus */
            skus?: string[] | null;
            /** Sources */
            sources?: string[] | null;
            /** Versions */
            versions?: string[] | null;
        };
        /** Page[App] */
        Page_App_: {
            /** Items */
            items: components["schemas"]["App"][];
            /** Next */
            next?: string | null;
        };
        /** Page[AppVersion] */
        Page_AppVersion_: {
            /** Items */
            items: components["schemas"]["AppVersion"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Artifact] */
        Page_Artifact_: {
            /** Items */
            items: components["schemas"]["Artifact"][];
            /** Next */
            next?: string | null;
        };
        /** Page[ArtifactSource] */
        Page_ArtifactSource_: {
            /** Items */
            items: components["schemas"]["ArtifactSource"][];
            /** Next */
            next?: string | null;
        };
        /** Page[BudgetStanding] */
        Page_BudgetStanding_: {
            /** Items */
            items: components["schemas"]["BudgetStanding"][];
            /** Next */
            next?: string | null;
        };
        /** Page[CellShown] */
        Page_CellShown_: {
            /** Items */
            items: components["schemas"]["CellShown"][];
            /** Next */
            next?: string | null;
        };
        /** Page[CloudEvent] */
        Page_CloudEvent_: {
            /** Items */
            items: components["schemas"]["CloudEvent"][];
            /** Next */
            next?: string | null;
        };
        /** Page[CustomRole] */
        Page_CustomRole_: {
            /** Items */
            items: components["schemas"]["CustomRole"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Decision] */
        Page_Decision_: {
            /** Items */
            items: components["schemas"]["Decision"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Entitlement] */
        Page_Entitlement_: {
            /** Items */
            items: components["schemas"]["Entitlement"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Finding] */
        Page_Finding_: {
            /** Items */
            items: components["schemas"]["Finding"][];
            /** Next */
            next?: string | null;
        };
        /** Page[GlobalShown] */
        Page_GlobalShown_: {
            /** Items */
            items: components["schemas"]["GlobalShown"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Graph] */
        Page_Graph_: {
            /** Items */
            items: components["schemas"]["Graph"][];
            /** Next */
            next?: string | null;
        };
        /** Page[HeldKey] */
        Page_HeldKey_: {
            /** Items */
            items: components["schemas"]["HeldKey"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Instance] */
        Page_Instance_: {
            /** Items */
            items: components["schemas"]["Instance"][];
            /** Next */
            next?: string | null;
        };
        /** Page[InstanceMember] */
        Page_InstanceMember_: {
            /** Items */
            items: components["schemas"]["InstanceMember"][];
            /** Next */
            next?: string | null;
        };
        /** Page[InstanceOperation] */
        Page_InstanceOperation_: {
            /** Items */
            items: components["schemas"]["InstanceOperation"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Invitation] */
        Page_Invitation_: {
            /** Items */
            items: components["schemas"]["Invitation"][];
            /** Next */
            next?: string | null;
        };
        /** Page[InvoiceHead] */
        Page_InvoiceHead_: {
            /** Items */
            items: components["schemas"]["InvoiceHead"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Job] */
        Page_Job_: {
            /** Items */
            items: components["schemas"]["Job"][];
            /** Next */
            next?: string | null;
        };
        /** Page[JournalRecord] */
        Page_JournalRecord_: {
            /** Items */
            items: components["schemas"]["JournalRecord"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Lease] */
        Page_Lease_: {
            /** Items */
            items: components["schemas"]["Lease"][];
            /** Next */
            next?: string | null;
        };
        /** Page[MaintenanceCalendar] */
        Page_MaintenanceCalendar_: {
            /** Items */
            items: components["schemas"]["MaintenanceCalendar"][];
            /** Next */
            next?: string | null;
        };
        /** Page[MaintenanceWindow] */
        Page_MaintenanceWindow_: {
            /** Items */
            items: components["schemas"]["MaintenanceWindow"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Member] */
        Page_Member_: {
            /** Items */
            items: components["schemas"]["Member"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Node] */
        Page_Node_: {
            /** Items */
            items: components["schemas"]["Node"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Project] */
        Page_Project_: {
            /** Items */
            items: components["schemas"]["Project"][];
            /** Next */
            next?: string | null;
        };
        /** Page[ProjectBooking] */
        Page_ProjectBooking_: {
            /** Items */
            items: components["schemas"]["ProjectBooking"][];
            /** Next */
            next?: string | null;
        };
        /** Page[ProjectSeries] */
        Page_ProjectSeries_: {
            /** Items */
            items: components["schemas"]["ProjectSeries"][];
            /** Next */
            next?: string | null;
        };
        /** Page[QueueEntry] */
        Page_QueueEntry_: {
            /** Items */
            items: components["schemas"]["QueueEntry"][];
            /** Next */
            next?: string | null;
        };
        /** Page[QuotaState] */
        Page_QuotaState_: {
            /** Items */
            items: components["schemas"]["QuotaState"][];
            /** Next */
            next?: string | null;
        };
        /** Page[RateChange] */
        Page_RateChange_: {
            /** Items */
            items: components["schemas"]["RateChange"][];
            /** Next */
            next?: string | null;
        };
        /** Page[ServiceAccount] */
        Page_ServiceAccount_: {
            /** Items */
            items: components["schemas"]["ServiceAccount"][];
            /** Next */
            next?: string | null;
        };
        /** Page[SessionHeld] */
        Page_SessionHeld_: {
            /** Items */
            items: components["schemas"]["SessionHeld"][];
            /** Next */
            next?: string | null;
        };
        /** Page[SharedPlacement] */
        Page_SharedPlacement_: {
            /** Items */
            items: components["schemas"]["SharedPlacement"][];
            /** Next */
            next?: string | null;
        };
        /** Page[SharedRuntimeRow] */
        Page_SharedRuntimeRow_: {
            /** Items */
            items: components["schemas"]["SharedRuntimeRow"][];
            /** Next */
            next?: string | null;
        };
        /** Page[ShareState] */
        Page_ShareState_: {
            /** Items */
            items: components["schemas"]["ShareState"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Stretch] */
        Page_Stretch_: {
            /** Items */
            items: components["schemas"]["Stretch"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Tenant] */
        Page_Tenant_: {
            /** Items */
            items: components["schemas"]["Tenant"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Token] */
        Page_Token_: {
            /** Items */
            items: components["schemas"]["Token"][];
            /** Next */
            next?: string | null;
        };
        /** Page[TrustRule] */
        Page_TrustRule_: {
            /** Items */
            items: components["schemas"]["TrustRule"][];
            /** Next */
            next?: string | null;
        };
        /** Page[Webhook] */
        Page_Webhook_: {
            /** Items */
            items: components["schemas"]["Webhook"][];
            /** Next */
            next?: string | null;
        };
        /**
         * PastAttempt
         * @description An attempt of a task that was followed by another: why, when, and where it ran.
         */
        PastAttempt: {
            /** Attempt */
            attempt: number;
            category: components["schemas"]["FailureCategory"];
            /** Ended Ms */
            ended_ms: number | null;
            /** Exit Code */
            exit_code: number | null;
            /** Job Id */
            job_id: number;
            /** Node */
            node: string | null;
            /** Reason */
            reason: string | null;
            /** Started Ms */
            started_ms: number | null;
            /** Task */
            task: string;
        };
        /**
         * PastTest
         * @description A test that is over; ``fails`` of its findings failed the node.
         */
        PastTest: {
            cause: components["schemas"]["NodeTestCause"];
            /** Ended Ms */
            ended_ms: number;
            /**
             * Fails
             * @default 0
             */
            fails?: number;
            outcome: components["schemas"]["NodeTestOutcome"];
            /** Test Id */
            test_id: number;
            /** Took Ms */
            took_ms?: number | null;
        };
        /**
         * PendingReason
         * @description Why a request did not get a lease, worst first; the first blocker is the smallest rank.
         * @enum {string}
         */
        PendingReason: "misconfigured" | "forbidden" | "exceeds_maximum" | "waiting_for_quota" | "waiting_for_capacity" | "fragmented" | "waiting_for_victims" | "not_yet_looked_at";
        /**
         * Picture
         * @description Every node and GPU, and who holds it, as columns with words as places in tables.
         *
         *     ``whole`` says whether all leases are in it; else they are those that you may read, and of
         *     what others hold nothing is told but that you could not be given it. ``kinds`` are the rows of
         *     GPUs that nodes have, by generation. ``leases`` and ``waiting`` count all of them, with and
         *     without GPUs, if the picture is whole.
         */
        Picture: {
            /** Attestations */
            attestations: components["schemas"]["AttestationState"][];
            held: components["schemas"]["PictureHeld"];
            /** Kinds */
            kinds: components["schemas"]["HardwareGeneration"][][];
            /** Lease Classes */
            lease_classes: components["schemas"]["LeaseClass"][];
            /** Leases */
            leases: number | null;
            /** Modes */
            modes: components["schemas"]["NodeMode"][];
            nodes: components["schemas"]["PictureNodes"];
            /** Tenants */
            tenants: string[];
            /** Waiting */
            waiting: number | null;
            /** Whole */
            whole: boolean;
        };
        /**
         * PictureHeld
         * @description The leases that hold GPUs as columns, by their numbers.
         *
         *     ``node`` is a place in the columns of nodes, ``devices`` the GPUs that it holds there as bits
         *     (1 is the first), ``milli`` its share of each, ``tenant`` and ``lease_class`` places in the
         *     picture's tables, ``ending`` whether it has to go.
         */
        PictureHeld: {
            /** Devices */
            devices: number[];
            /** Ending */
            ending: number[];
            /** Lease Class */
            lease_class: number[];
            /** Lease Id */
            lease_id: number[];
            /** Milli */
            milli: number[];
            /** Node */
            node: number[];
            /** Tenant */
            tenant: number[];
        };
        /**
         * PictureNodes
         * @description The nodes of a picture as columns, by name: the same place in each is the same node.
         *
         *     ``kind``, ``mode`` and ``attestation`` are places in the picture's tables. ``free_milli`` has
         *     what you could be given of each GPU; it is there if the picture is not whole.
         */
        PictureNodes: {
            /** Attestation */
            attestation: number[];
            /** Free Milli */
            free_milli?: number[][] | null;
            /** Kind */
            kind: number[];
            /** Mode */
            mode: number[];
            /** Node */
            node: string[];
            /** Quarantined */
            quarantined: number[];
            /** Takes Leases */
            takes_leases: number[];
        };
        /**
         * Piece
         * @description Evidence of one kind, by its parts.
         */
        Piece: {
            kind: components["schemas"]["EvidenceKind"];
            /** Parts */
            parts: {
                [key: string]: string;
            };
        };
        /**
         * PlacementStep
         * @description A record about a lease before it was placed, and the one that placed it.
         */
        PlacementStep: {
            /** At Ms */
            at_ms: number;
            /** Detail */
            detail: string | null;
            /** Kind */
            kind: string;
            /** Reason */
            reason: string | null;
            /** Seq */
            seq: number;
        };
        /**
         * PlannedStage
         * @description One definition: what one of its tasks would get now, and when it could start.
         *
         *     ``starts_ms`` is counted from the submission, if every task takes as long as it may.
         */
        PlannedStage: {
            /** After */
            after: string[];
            /** Name */
            name: string;
            /** Plan */
            plan: (components["schemas"]["WouldGrant"] | components["schemas"]["WouldPreempt"] | components["schemas"]["WouldQueue"] | components["schemas"]["WouldRefuse"]) | null;
            /** Starts Ms */
            starts_ms: number;
            /** Tasks */
            tasks: number;
            /** Ttl Ms */
            ttl_ms: number;
            unhonoured?: components["schemas"]["NotHonoured"] | null;
        };
        /**
         * PolicyAnswer
         * @description A line that denied a source, by its record, and what a deployment was answered then.
         */
        PolicyAnswer: {
            refusal: components["schemas"]["InstanceRefusal"] | null;
            /** Seq */
            seq: number;
            /** Source */
            source: string;
        };
        /**
         * PreemptionReason
         * @description Why running work was evicted. Mandatory on every eviction; there is no "other".
         * @enum {string}
         */
        PreemptionReason: "priority_preemption" | "quota_rebalance" | "burst_credit_exhausted" | "budget_exhausted" | "cost_cap_eviction" | "operator_drain" | "operator_mig_profile_change" | "maintenance_window" | "policy_violation_recovery";
        /**
         * Price
         * @description What a request costs at the list prices of today; ``micros_total`` is for its whole term.
         */
        Price: {
            /** Currency */
            currency: string;
            /** Is Upper Bound */
            is_upper_bound: boolean;
            /** Micros Per Hour */
            micros_per_hour: number;
            /** Micros Total */
            micros_total: number;
        };
        /**
         * PrintedPiece
         * @description Some of what a job printed, from a byte on; in base64.
         */
        PrintedPiece: {
            /** Data */
            data: string;
            /**
             * Is Truncated
             * @default false
             */
            is_truncated?: boolean;
            /** Lease Id */
            lease_id: number;
            /** Offset */
            offset: number;
        };
        /**
         * Priority
         * @description How urgent a request is; ``rank`` orders them.
         * @enum {string}
         */
        Priority: "low" | "normal" | "high" | "critical";
        /**
         * PriorityTooHigh
         * @description A higher priority than may be asked for there.
         */
        PriorityTooHigh: {
            asked_priority: components["schemas"]["Priority"];
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "priority_too_high";
            priority_max: components["schemas"]["Priority"];
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * Problem
         * @description Which error, in words for a program and for a person; a refused request's decision is in it.
         *
         *     ``correlation_id`` finds everything that belongs to the request, and ``trace_id`` the same in
         *     whatever collects the spans. ``retryable`` says whether the
         *     same request (with the same idempotency key) may do better later.
         */
        Problem: {
            /** Code */
            code: components["schemas"]["ErrorCode"] | components["schemas"]["EdgeCode"];
            /** Correlation Id */
            correlation_id: string;
            /** Decision */
            decision?: (components["schemas"]["Refused"] | components["schemas"]["TokenDenied"]) | null;
            /** Details */
            details: {
                [key: string]: string | number | string[] | null;
            };
            /** Message */
            message: string;
            /** Retryable */
            retryable: boolean;
            /** Trace Id */
            trace_id?: string | null;
        };
        /**
         * Project
         * @description A part of a tenant.
         */
        Project: {
            /** Display Name */
            display_name: string;
            /** Is Open */
            is_open: boolean;
            /** Project */
            project: string;
            /** Revision */
            revision: number;
            /** Tenant */
            tenant: string;
        };
        /**
         * ProjectBooking
         * @description A booking that is ahead or on.
         *
         *     ``nodes`` are those that it has now, ``given_back`` those that it had and that nobody used;
         *     ``asked`` is what was asked for. ``lacking`` is how many of its nodes take no work now.
         *     ``series`` is the one by which it was made.
         */
        ProjectBooking: {
            asked: components["schemas"]["BookingWish"];
            /** Booking */
            booking: string;
            /** Ends Ms */
            ends_ms: number;
            /** Given Back */
            given_back: string[];
            /** Gpu Count */
            gpu_count: number;
            /** Lacking */
            lacking: number;
            /** Nodes */
            nodes: string[];
            phase: components["schemas"]["BookingPhase"];
            /** Project */
            project: string;
            /** Series */
            series: string | null;
            /** Starts Ms */
            starts_ms: number;
            /** Tenant */
            tenant: string;
        };
        /**
         * ProjectSeries
         * @description A series, and the times ahead that were booked by it.
         *
         *     Those that were cancelled since are among them: they are not booked again.
         */
        ProjectSeries: {
            /** Booked Ms */
            booked_ms: number[];
            /** Project */
            project: string;
            /** Series */
            series: string;
            /** Tenant */
            tenant: string;
            wish: components["schemas"]["SeriesWish"];
        };
        /**
         * ProjectSum
         * @description What a project comes to; without a name, what belongs to none.
         */
        ProjectSum: {
            /** Cost Micros */
            cost_micros: number;
            /** Project */
            project: string | null;
        };
        /**
         * PullCredential
         * @description A credential for a pull, shown this once.
         */
        PullCredential: {
            /** Audience */
            audience: string;
            /** Credential */
            credential: string;
            /** Credential Id */
            credential_id: string;
            /** Digest */
            digest: string;
            /** Expires Ms */
            expires_ms: number;
            /** Instance Id */
            instance_id: number;
            /** Operation Id */
            operation_id: number;
        };
        /**
         * Quarantine
         * @description Why a node is not trusted, and how long what runs there may still take.
         */
        Quarantine: {
            /** Grace Ms */
            grace_ms?: number | null;
            /** Reason */
            reason: string;
        };
        /**
         * Queued
         * @description The request waits as this entry; ``denied`` is what stood first in its way.
         */
        Queued: {
            /**
             * Answer
             * @constant
             */
            answer: "queued";
            /** Denied */
            denied: (components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"]) | null;
            /** Entry Id */
            entry_id: number;
        };
        /**
         * QueueEntry
         * @description A request that waits: where it stands and everything that stands in its way.
         */
        QueueEntry: {
            /** Blockers */
            blockers: (components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"])[];
            /** Entry Id */
            entry_id: number;
            estimate: components["schemas"]["Estimate"];
            /** Fallen */
            fallen: {
                [key: string]: number;
            };
            /** Fitting */
            fitting: number;
            /** Is Further */
            is_further: boolean;
            /** Job Id */
            job_id?: number | null;
            /** Job Labels */
            job_labels?: string[];
            /** Position */
            position: number;
            /** Project */
            project: string | null;
            /** Raised */
            raised: number;
            reason: components["schemas"]["PendingReason"];
            remedy: components["schemas"]["Remedy"];
            request?: components["schemas"]["Asked"] | null;
            /** Rules */
            rules?: components["schemas"]["ClosingRule"][];
            /**
             * Rules More
             * @default 0
             */
            rules_more?: number;
            /** Slips */
            slips: number;
            /** Submitted Ms */
            submitted_ms: number;
            /** Tenant */
            tenant: string;
        };
        /**
         * Quota
         * @description Everything a tenant or project is allowed; what is not named is not limited.
         *
         *     Without a ``ceiling`` that of the settings counts, and for a project its tenant's.
         */
        Quota: {
            burst?: components["schemas"]["Burst"] | null;
            ceiling?: components["schemas"]["Ceiling"] | null;
            /** Gpu Limits */
            gpu_limits?: {
                [key: string]: number;
            };
            /** Limits */
            limits?: {
                [key: string]: number;
            };
        };
        /**
         * QuotaConsequence
         * @description What another quota would do.
         */
        QuotaConsequence: {
            at_once: components["schemas"]["AtOnce"] | null;
            /** Gpu Limits */
            gpu_limits: {
                [key: string]: components["schemas"]["LimitChange"];
            };
            /** Limits */
            limits: {
                [key: string]: components["schemas"]["LimitChange"];
            };
        };
        /**
         * QuotaRebalanced
         * @description Who holds more than its quota was told to give it back; or (dry run) what that would end.
         */
        QuotaRebalanced: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            consequence?: components["schemas"]["RebalanceConsequence"] | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * QuotaSet
         * @description A tenant or project has another quota; or (dry run) what that would do.
         */
        QuotaSet: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            consequence?: components["schemas"]["QuotaConsequence"] | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * QuotaState
         * @description The quota that was set (or the default), and how it stands.
         */
        QuotaState: {
            /** Burst Left */
            burst_left?: number | null;
            ceiling: components["schemas"]["Ceiling"];
            /** Dimensions */
            dimensions: {
                [key: string]: components["schemas"]["Room"];
            };
            /** Generations */
            generations: {
                [key: string]: components["schemas"]["Room"];
            };
            /** Is Default */
            is_default: boolean;
            /** Project */
            project: string | null;
            quota: components["schemas"]["Quota"];
            /** Tenant */
            tenant: string;
        };
        /**
         * RateChange
         * @description One change of prices; without ``rates`` the tenant's own card was withdrawn.
         */
        RateChange: {
            /** Effective Ms */
            effective_ms: number;
            /** Name */
            name: string;
            /** Number */
            number: number;
            rates: components["schemas"]["Rates"] | null;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * Rates
         * @description The rate card: what an hour costs, and what each lease class pays of that.
         *
         *     Without ``tenant`` it is the list, which holds for everybody who has no card of his own.
         */
        Rates: {
            /** App Unit Micros */
            app_unit_micros?: {
                [key: string]: number;
            };
            /** Block Micros Per Gib Hour */
            block_micros_per_gib_hour: number;
            /** Class Per Mille */
            class_per_mille: {
                [key: string]: number;
            };
            /** Core Micros Per Hour */
            core_micros_per_hour: number;
            /** Currency */
            currency: string;
            /** Effective Ms */
            effective_ms: number;
            /** Gpu Micros Per Hour */
            gpu_micros_per_hour: {
                [key: string]: number;
            };
            /** Mem Micros Per Gib Hour */
            mem_micros_per_gib_hour: number;
            /** Name */
            name: string;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * Readiness
         * @description What follows from all conditions together.
         * @enum {string}
         */
        Readiness: "ready" | "not_ready" | "undecided";
        /**
         * ReadinessCondition
         * @description What must hold before an app is taken on, in the order in which it is told.
         * @enum {string}
         */
        ReadinessCondition: "contracts_only" | "service_account" | "tenancy" | "lifecycle_events" | "artifact_policy" | "survives_kill" | "runbook";
        /**
         * ReadinessReason
         * @description Why a condition stands as it does.
         * @enum {string}
         */
        ReadinessReason: "only_control_plane" | "other_connections" | "not_watched" | "acted_as_account" | "no_operator" | "not_an_account" | "operator_silent" | "acted_as_others" | "all_refused" | "let_in" | "reaches_further" | "actions_not_tried" | "all_heard" | "never_reached" | "not_heard" | "failure_not_provoked" | "refused_by_policy" | "deployed_anyway" | "policy_not_tried" | "resumed" | "not_resumed" | "step_not_tried" | "not_killed" | "triage_complete" | "section_missing" | "no_commands" | "unknown_commands" | "commands_not_tried";
        /**
         * Rebalance
         * @description How long leases that go because their owner is above its quota may still run.
         */
        Rebalance: {
            /** Grace Ms */
            grace_ms?: number | null;
        };
        /**
         * RebalanceConsequence
         * @description Which leases would bring a tenant or project back inside its quota.
         */
        RebalanceConsequence: {
            /** Cost */
            cost: number;
            /** Gangs */
            gangs: number;
            /** Gpu Over */
            gpu_over: {
                [key: string]: components["schemas"]["SurplusHeld"];
            };
            /** Leases */
            leases: components["schemas"]["SurplusLease"][];
            /** Leaving */
            leaving: number;
            /** Over */
            over: {
                [key: string]: components["schemas"]["SurplusHeld"];
            };
            /** Until Ms */
            until_ms: number;
        };
        /**
         * Refused
         * @description The request does not run and does not wait.
         */
        Refused: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            answer: "refused";
            /** Denied */
            denied: components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"];
        };
        /**
         * Remedy
         * @description The one change that would clear the first blocker, by how much, and of what.
         */
        Remedy: {
            /** Amount */
            amount: number;
            /** Lease Ids */
            lease_ids?: number[];
            /**
             * Remedy
             * @enum {string}
             */
            remedy: "nothing_needed" | "declare_generation" | "change_request" | "change_policy" | "raise_quota" | "raise_ceiling" | "free_own_leases" | "open_nodes" | "wait_or_preempt";
            /** Unit */
            unit: string;
        };
        /**
         * Renewal
         * @description A new term from now; ``generation`` (if given) must be the lease's current one.
         */
        Renewal: {
            /** Generation */
            generation?: number | null;
            /** Ttl Ms */
            ttl_ms: number;
        };
        /**
         * ReplicaState
         * @description One server process: what it does, how far its journal is, and how old its answers may be.
         */
        ReplicaState: {
            /** Address */
            address: string;
            /** Age Ms */
            age_ms: number;
            /** Agents */
            agents?: {
                [key: string]: number;
            };
            /** Clock Ms */
            clock_ms: number;
            /** Clusters */
            clusters?: components["schemas"]["ClusterState"][];
            /** Digest */
            digest: string | null;
            /** Epoch */
            epoch: number;
            /**
             * Host Members
             * @default false
             */
            host_members?: boolean;
            /** Job Mode */
            job_mode?: ("sandbox" | "users" | "trusted" | "closed") | null;
            leader: components["schemas"]["Leader"] | null;
            /** Leases */
            leases: number;
            /** Name */
            name: string;
            /** Nodes */
            nodes: number;
            /**
             * Role
             * @enum {string}
             */
            role: "starting" | "following" | "leading";
            /** Size */
            size: number;
            /** Waiting */
            waiting: number;
        };
        /**
         * ReservedForOthers
         * @description It would fit, but would not have ended when a request ahead of it is to have the room.
         */
        ReservedForOthers: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "room_reserved";
            /** Free */
            free: number;
            /** Kept */
            kept: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
            resource: components["schemas"]["ResourceKind"];
        };
        /**
         * ResourceKind
         * @description The four resources a node offers, each in the unit its word names.
         * @enum {string}
         */
        ResourceKind: "cpu_milli" | "mem_bytes" | "block_bytes" | "gpu_milli";
        /**
         * Resources
         * @description Amounts of what a node offers or a lease holds.
         */
        Resources: {
            /**
             * Block Bytes
             * @default 0
             */
            block_bytes?: number;
            /**
             * Cpu Milli
             * @default 0
             */
            cpu_milli?: number;
            /**
             * Mem Bytes
             * @default 0
             */
            mem_bytes?: number;
        };
        /**
         * Revocations
         * @description What was renewed or ended of late, so that older tokens count no more.
         *
         *     Complete from ``complete_from_ms`` on; whoever needs more believes no token of before.
         */
        Revocations: {
            /** Complete From Ms */
            complete_from_ms: number;
            /** Now Ms */
            now_ms: number;
            revoked: components["schemas"]["Revoked"];
        };
        /**
         * Revoked
         * @description Leases as [number, lowest generation that counts, when]; no generation means none counts.
         */
        Revoked: {
            /** Ids */
            ids: [
                string,
                number
            ][];
            /** Leases */
            leases: [
                number,
                number | null,
                number
            ][];
        };
        /**
         * RevokeState
         * @description How far the ending of a lease has come.
         * @enum {string}
         */
        RevokeState: "active" | "revoke_warning" | "grace_running" | "checkpoint_reported" | "forced_teardown" | "torndown" | "expired" | "fenced" | "failed_closed";
        /**
         * RoleChange
         * @description A role of one's own as it is to be; without a tenant, the fleet's.
         */
        RoleChange: {
            /** Keys */
            keys: ("scheduler.catalog.read" | "scheduler.instance.read" | "scheduler.instance.create" | "scheduler.instance.update" | "scheduler.instance.delete" | "scheduler.queue.submit" | "scheduler.queue.read" | "scheduler.queue.cancel" | "scheduler.node.read" | "scheduler.node.operate" | "scheduler.node.report" | "scheduler.job.exec" | "scheduler.endpoint.open" | "scheduler.lease.read" | "scheduler.lease.hold" | "scheduler.lease.evict" | "scheduler.quota.read" | "scheduler.quota.set" | "scheduler.project_quota.set" | "scheduler.booking.read" | "scheduler.booking.manage" | "scheduler.settings.read" | "scheduler.settings.set" | "scheduler.isolation.read" | "scheduler.isolation.set" | "scheduler.catalog.publish" | "scheduler.entitlement.set" | "scheduler.artifact.manage" | "scheduler.webhook.manage" | "scheduler.shared_runtime.read" | "scheduler.shared_runtime.manage" | "scheduler.shared_runtime.join" | "scheduler.host_privilege.grant" | "scheduler.cell.read" | "scheduler.cell.operate" | "scheduler.cell.home" | "iam.tenant.read" | "iam.tenant.manage" | "iam.project.manage" | "iam.role.manage" | "iam.member.read" | "iam.member.manage" | "iam.service_account.read" | "iam.service_account.manage" | "iam.token.issue" | "iam.token.revoke" | "journal.record.read" | "metering.usage.read" | "metering.finding.report" | "billing.rate_card.read" | "billing.rate_card.set" | "billing.budget.read" | "billing.budget.set" | "billing.project_budget.set" | "billing.invoice.read" | "billing.invoice.issue" | "telemetry.metrics.read" | "telemetry.trace.read" | "iam.break_glass.use")[];
            /**
             * Level
             * @enum {string}
             */
            level: "fleet" | "tenant" | "project";
            /** Role */
            role: string;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * RoleHeld
         * @description A role, what it allows, and where it is held; without a tenant, over the whole fleet.
         */
        RoleHeld: {
            /** Keys */
            keys: ("scheduler.catalog.read" | "scheduler.instance.read" | "scheduler.instance.create" | "scheduler.instance.update" | "scheduler.instance.delete" | "scheduler.queue.submit" | "scheduler.queue.read" | "scheduler.queue.cancel" | "scheduler.node.read" | "scheduler.node.operate" | "scheduler.node.report" | "scheduler.job.exec" | "scheduler.endpoint.open" | "scheduler.lease.read" | "scheduler.lease.hold" | "scheduler.lease.evict" | "scheduler.quota.read" | "scheduler.quota.set" | "scheduler.project_quota.set" | "scheduler.booking.read" | "scheduler.booking.manage" | "scheduler.settings.read" | "scheduler.settings.set" | "scheduler.isolation.read" | "scheduler.isolation.set" | "scheduler.catalog.publish" | "scheduler.entitlement.set" | "scheduler.artifact.manage" | "scheduler.webhook.manage" | "scheduler.shared_runtime.read" | "scheduler.shared_runtime.manage" | "scheduler.shared_runtime.join" | "scheduler.host_privilege.grant" | "scheduler.cell.read" | "scheduler.cell.operate" | "scheduler.cell.home" | "iam.tenant.read" | "iam.tenant.manage" | "iam.project.manage" | "iam.role.manage" | "iam.member.read" | "iam.member.manage" | "iam.service_account.read" | "iam.service_account.manage" | "iam.token.issue" | "iam.token.revoke" | "journal.record.read" | "metering.usage.read" | "metering.finding.report" | "billing.rate_card.read" | "billing.rate_card.set" | "billing.budget.read" | "billing.budget.set" | "billing.project_budget.set" | "billing.invoice.read" | "billing.invoice.issue" | "telemetry.metrics.read" | "telemetry.trace.read" | "iam.break_glass.use")[];
            /** Project */
            project: string | null;
            /** Role */
            role: ("fleet_admin" | "fleet_operator" | "fleet_auditor" | "node_agent" | "tenant_admin" | "tenant_auditor" | "project_admin" | "project_member" | "project_viewer") | string;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * RoleName
         * @description A role of one's own, and whose it is.
         */
        RoleName: {
            /** Role */
            role: string;
            /** Tenant */
            tenant?: string | null;
        };
        /**
         * Room
         * @description One limit, its use and what is left of it; ``null`` where there is none.
         */
        Room: {
            /** Left */
            left: number | null;
            /** Limit */
            limit: number | null;
            /** Used */
            used: number;
        };
        /**
         * RoomClaimed
         * @description It would fit, but for what is kept for a request for which others had to leave.
         */
        RoomClaimed: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "room_claimed";
            /** Free */
            free: number;
            /** Kept */
            kept: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested */
            requested: number;
            resource: components["schemas"]["ResourceKind"];
        };
        /**
         * RoomLeft
         * @description Free milli-shares of a generation on nodes that take leases: now, and once all have gone.
         */
        RoomLeft: {
            /** Free After Milli */
            free_after_milli: number;
            /** Free Milli */
            free_milli: number;
            generation: components["schemas"]["HardwareGeneration"];
        };
        /**
         * RunbookCommands
         * @description How many commands the runbook names, and how many of them the command line lacks.
         */
        RunbookCommands: {
            /** Commands */
            commands: number;
            /** Unknown */
            unknown: number;
        };
        /**
         * RunningTest
         * @description A test that goes on, why, and until when its agent has to answer.
         */
        RunningTest: {
            /** Begun Ms */
            begun_ms: number;
            cause: components["schemas"]["NodeTestCause"];
            /** Due Ms */
            due_ms: number;
            /** Test Id */
            test_id: number;
        };
        /**
         * ScopeChange
         * @description What to change of a tenant or project; what is left out stays.
         */
        ScopeChange: {
            /** Display Name */
            display_name?: string | null;
            /** Is Open */
            is_open?: boolean | null;
        };
        /**
         * ScopeClosed
         * @description The tenant or project is closed.
         */
        ScopeClosed: {
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "scope_closed";
            reason: components["schemas"]["PendingReason"];
        };
        /**
         * SeenJob
         * @description What a node's agent saw of a job; which fields are told follows from ``state``.
         */
        SeenJob: {
            /** Boot Id */
            boot_id?: string | null;
            /** Code */
            code?: number | null;
            /** Ended Ms */
            ended_ms?: number | null;
            fault?: components["schemas"]["JobFault"] | null;
            /** Is Cleared */
            is_cleared?: boolean | null;
            /**
             * Is Emptied
             * @default false
             */
            is_emptied?: boolean;
            /**
             * Is Forgotten
             * @default false
             */
            is_forgotten?: boolean;
            /**
             * Is Out Of Memory
             * @default false
             */
            is_out_of_memory?: boolean;
            /**
             * Is Warned
             * @default false
             */
            is_warned?: boolean;
            /** Lease Id */
            lease_id: number;
            /** Note */
            note?: string | null;
            /** Pid */
            pid?: number | null;
            /** Reason */
            reason?: ("never_started" | "state_unreadable" | "other_boot" | "not_the_same_process" | "supervisor_gone" | "node_lost") | null;
            /** Signal */
            signal?: number | null;
            /** Start Ticks */
            start_ticks?: number | null;
            /**
             * State
             * @enum {string}
             */
            state: "starting" | "unstarted" | "running" | "exited" | "lost";
        };
        /**
         * Self
         * @description Who asks: its roles, and the token that it shows; a narrowed one has only those ``keys``.
         */
        Self: {
            /** Expires Ms */
            expires_ms: number;
            /**
             * Home
             * @default fleet
             */
            home?: string;
            /** Keys */
            keys: ("scheduler.catalog.read" | "scheduler.instance.read" | "scheduler.instance.create" | "scheduler.instance.update" | "scheduler.instance.delete" | "scheduler.queue.submit" | "scheduler.queue.read" | "scheduler.queue.cancel" | "scheduler.node.read" | "scheduler.node.operate" | "scheduler.node.report" | "scheduler.job.exec" | "scheduler.endpoint.open" | "scheduler.lease.read" | "scheduler.lease.hold" | "scheduler.lease.evict" | "scheduler.quota.read" | "scheduler.quota.set" | "scheduler.project_quota.set" | "scheduler.booking.read" | "scheduler.booking.manage" | "scheduler.settings.read" | "scheduler.settings.set" | "scheduler.isolation.read" | "scheduler.isolation.set" | "scheduler.catalog.publish" | "scheduler.entitlement.set" | "scheduler.artifact.manage" | "scheduler.webhook.manage" | "scheduler.shared_runtime.read" | "scheduler.shared_runtime.manage" | "scheduler.shared_runtime.join" | "scheduler.host_privilege.grant" | "scheduler.cell.read" | "scheduler.cell.operate" | "scheduler.cell.home" | "iam.tenant.read" | "iam.tenant.manage" | "iam.project.manage" | "iam.role.manage" | "iam.member.read" | "iam.member.manage" | "iam.service_account.read" | "iam.service_account.manage" | "iam.token.issue" | "iam.token.revoke" | "journal.record.read" | "metering.usage.read" | "metering.finding.report" | "billing.rate_card.read" | "billing.rate_card.set" | "billing.budget.read" | "billing.budget.set" | "billing.project_budget.set" | "billing.invoice.read" | "billing.invoice.issue" | "telemetry.metrics.read" | "telemetry.trace.read" | "iam.break_glass.use")[] | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "human" | "service_account" | "node" | "runtime_operator";
            /** Principal */
            principal: string;
            /** Roles */
            roles: components["schemas"]["RoleHeld"][];
            /** Token Id */
            token_id: string;
        };
        /**
         * SeriesMade
         * @description Nodes are booked by it; or (dry run) when it comes next, and what it would get.
         */
        SeriesMade: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            consequence?: components["schemas"]["SeriesOutlook"] | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * SeriesOutlook
         * @description The next times of a series that would be set.
         */
        SeriesOutlook: {
            /** Times */
            times: components["schemas"]["SeriesTimeOutlook"][];
        };
        /**
         * SeriesStanding
         * @description A series, and what of it could not be booked: the first of those times, and how many more.
         */
        SeriesStanding: {
            /** Booked Ms */
            booked_ms: number[];
            /** Project */
            project: string;
            /** Series */
            series: string;
            /** Tenant */
            tenant: string;
            /**
             * Trouble
             * @default
             */
            trouble?: string;
            /** Unbooked */
            unbooked: components["schemas"]["UnbookedTime"][];
            /**
             * Unbooked More
             * @default 0
             */
            unbooked_more?: number;
            wish: components["schemas"]["SeriesWish"];
        };
        /**
         * SeriesTimeOutlook
         * @description A time of a series that would be set, and what it would get if it were booked now.
         */
        SeriesTimeOutlook: {
            /** Earliest Ms */
            earliest_ms?: number | null;
            /** Ends Ms */
            ends_ms: number;
            /** Nodes */
            nodes: string[];
            /** Starts Ms */
            starts_ms: number;
            /**
             * Why
             * @default
             */
            why?: string;
        };
        /**
         * SeriesWish
         * @description When nodes are booked again and again, in plain words.
         *
         *     ``ahead_days``: how far ahead.
         */
        SeriesWish: {
            /**
             * Ahead Days
             * @default 28
             */
            ahead_days?: number;
            /**
             * Count
             * @default 0
             */
            count?: number;
            generation?: components["schemas"]["HardwareGeneration"] | null;
            /**
             * Gpus
             * @default 0
             */
            gpus?: number;
            /** Labels */
            labels?: string[];
            /** Nodes */
            nodes?: string[];
            /** Rule */
            rule: string;
            /**
             * Text
             * @default
             */
            text?: string;
            /** Wait Ms */
            wait_ms?: number | null;
        };
        /**
         * ServiceAccount
         * @description A program's principal, of one scope.
         */
        ServiceAccount: {
            /** Account */
            account: string;
            /** Is Enabled */
            is_enabled: boolean;
            /** Project */
            project: string | null;
            /** Tenant */
            tenant: string | null;
        };
        /**
         * SessionHeld
         * @description A token of one's own that still counts.
         */
        SessionHeld: {
            /** Expires Ms */
            expires_ms: number;
            /** Is This */
            is_this: boolean;
            /** Issued Ms */
            issued_ms: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "human" | "service_account" | "node" | "runtime_operator";
            /** Single Use */
            single_use: boolean;
            /** Token Id */
            token_id: string;
        };
        /**
         * SessionRenewal
         * @description For how long a browser's session is to go on.
         */
        SessionRenewal: {
            /**
             * Ttl S
             * @default 3600
             */
            ttl_s?: number;
        };
        /**
         * Settings
         * @description Everything that can be set; what is left out has its default.
         */
        Settings: {
            /** @default high */
            aging_ceiling?: components["schemas"]["Priority"];
            /**
             * Aging Max
             * @default 1
             */
            aging_max?: number;
            /**
             * Aging Ms
             * @default 86400000
             */
            aging_ms?: number;
            /**
             * Booking Wait Max Ms
             * @default 3600000
             */
            booking_wait_max_ms?: number;
            /**
             * Booking Wait Ms
             * @default 900000
             */
            booking_wait_ms?: number;
            /**
             * Burst Min Run Ms
             * @default 60000
             */
            burst_min_run_ms?: number;
            /**
             * Clock Drift Ms
             * @default 60000
             */
            clock_drift_ms?: number;
            /**
             * Clock Step Ms
             * @default 3600000
             */
            clock_step_ms?: number;
            /**
             * Confirm Teardown
             * @default false
             */
            confirm_teardown?: boolean;
            /**
             * Fresh Checkpoint Ms
             * @default 60000
             */
            fresh_checkpoint_ms?: number;
            /**
             * Grace Ms
             * @default 30000
             */
            grace_ms?: number;
            /**
             * Half Life Ms
             * @default 604800000
             */
            half_life_ms?: number;
            /**
             * @default {
             *       "block_bytes": 0,
             *       "cpu_milli": 0,
             *       "gpu_milli": 0,
             *       "mem_bytes": 0
             *     }
             */
            headroom?: components["schemas"]["Held"];
            /** @default critical */
            headroom_priority?: components["schemas"]["Priority"];
            /**
             * Health Drain Milli
             * @default 100
             */
            health_drain_milli?: number;
            /**
             * Horizon Ms
             * @default 2592000000
             */
            horizon_ms?: number;
            /**
             * Job Mem Bytes Per Core
             * @default 1073741824
             */
            job_mem_bytes_per_core?: number;
            /**
             * Keys Max
             * @default 1000000
             */
            keys_max?: number;
            /**
             * Keys Ms
             * @default 86400000
             */
            keys_ms?: number;
            /** Lease Classes */
            lease_classes?: components["schemas"]["LeaseClass"][];
            /**
             * Max Cascade Depth
             * @default 3
             */
            max_cascade_depth?: number;
            /**
             * Min Run Ms
             * @default 0
             */
            min_run_ms?: number;
            /**
             * Offer Platform Managed
             * @default false
             */
            offer_platform_managed?: boolean;
            /**
             * Outage Ms
             * @default 2592000000
             */
            outage_ms?: number;
            /**
             * Patience Ms
             * @default 86400000
             */
            patience_ms?: number;
            /** @default high */
            preempt_from?: components["schemas"]["Priority"];
            /** @default high */
            priority_max?: components["schemas"]["Priority"];
            /**
             * Queue Max
             * @default 100000
             */
            queue_max?: number;
            /**
             * Rebalance Ms
             * @default 0
             */
            rebalance_ms?: number;
            /**
             * Reservations Max
             * @default 4
             */
            reservations_max?: number;
            /**
             * Slips Max
             * @default 3
             */
            slips_max?: number;
            /** @default fragmentation_aware */
            strategy?: components["schemas"]["Strategy"];
            /**
             * Teardown Ms
             * @default 60000
             */
            teardown_ms?: number;
            /**
             * Tenant Block Bytes
             * @default 281474976710656
             */
            tenant_block_bytes?: number;
            /**
             * Tenant Cpu Milli
             * @default 10000000
             */
            tenant_cpu_milli?: number;
            /**
             * Tenant Gpu Count
             * @default 256
             */
            tenant_gpu_count?: number;
            /**
             * Tenant Lease Count
             * @default 10000
             */
            tenant_lease_count?: number;
            /**
             * Tenant Mem Bytes
             * @default 70368744177664
             */
            tenant_mem_bytes?: number;
            /**
             * Term Max Ms
             * @default 604800000
             */
            term_max_ms?: number;
            /**
             * Test Every Ms
             * @default 0
             */
            test_every_ms?: number;
            /**
             * Test Wait Ms
             * @default 600000
             */
            test_wait_ms?: number;
            /**
             * Untrusted Grace Ms
             * @default 5000
             */
            untrusted_grace_ms?: number;
            /**
             * Waiting Max
             * @default 1000
             */
            waiting_max?: number;
            /** Weights */
            weights?: number[] | null;
        };
        /**
         * SettlementPlan
         * @description The rule as it would be; ``digest`` is what has to be accepted.
         */
        SettlementPlan: {
            /** Currency */
            currency: string;
            /** Digest */
            digest: string;
            /** Rates */
            rates: {
                [key: string]: number;
            };
            /** Rule */
            rule: string;
        };
        /**
         * SharedAttachment
         * @description A project's part in a runtime, and who consented to it.
         */
        SharedAttachment: {
            /** Accepted By */
            accepted_by: string | null;
            /** Allowed By */
            allowed_by: string | null;
            phase: components["schemas"]["AttachmentPhase"];
            /** Project */
            project: string;
            /** Seq */
            seq: number;
            /** Since Ms */
            since_ms: number;
        };
        /**
         * SharedBalance
         * @description What a project owes in all: less than nothing is what it is owed.
         */
        SharedBalance: {
            /** Owed Micros */
            owed_micros: number;
            /** Project */
            project: string;
        };
        /**
         * SharedParting
         * @description Two attached projects that the isolation policy keeps apart, and on what.
         */
        SharedParting: {
            /** Kinds */
            kinds: components["schemas"]["DomainKind"][];
            /** Projects */
            projects: string[];
        };
        /**
         * SharedPerson
         * @description Somebody who may submit for attached projects, by a role at each of them.
         */
        SharedPerson: {
            /** Principal */
            principal: string;
            /** Projects */
            projects: string[];
        };
        /**
         * SharedPlacement
         * @description A member of a runtime: where it is, whose lease it has, and by which decisions.
         */
        SharedPlacement: {
            /** Component Key */
            component_key: string;
            /** Is Contributed */
            is_contributed: boolean;
            /** Lease Id */
            lease_id: number | null;
            /** Member Id */
            member_id: number;
            /** Node */
            node: string | null;
            part: components["schemas"]["MemberPart"];
            phase: components["schemas"]["MemberPhase"];
            /** Placed Seq */
            placed_seq: number | null;
            /** Project */
            project: string;
            /** Role */
            role: string;
            /** Steps */
            steps: components["schemas"]["PlacementStep"][];
        };
        /**
         * SharedPlan
         * @description Who would pay for what; ``digest`` is what a creation has to accept.
         */
        SharedPlan: {
            /** Contributable */
            contributable: string[];
            /** Contributed */
            contributed: components["schemas"]["ContributedPrice"][];
            /** Currency */
            currency: string;
            /** Digest */
            digest: string;
            /** Rates */
            rates: {
                [key: string]: number;
            };
            /** Reserved */
            reserved: components["schemas"]["SharedReservation"][];
            /** Rule */
            rule: string;
            /** Withdraw Within Ms */
            withdraw_within_ms: number;
        };
        /**
         * SharedReservation
         * @description Members that the owner record pays for.
         */
        SharedReservation: {
            /** Count */
            count: number;
            /** Is Upper Bound */
            is_upper_bound: boolean;
            /** Micros Per Hour */
            micros_per_hour: number;
            part: components["schemas"]["MemberPart"];
            /** Payer */
            payer: string;
            /** Role */
            role: string;
            /** Shape */
            shape: {
                [key: string]: components["schemas"]["JsonValue"];
            };
        };
        /**
         * SharedRuntimeDone
         * @description A runtime was made, and which instance is behind it.
         */
        SharedRuntimeDone: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            /** Instance Id */
            instance_id: number | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * SharedRuntimeRow
         * @description A runtime of a tenant.
         */
        SharedRuntimeRow: {
            /** Accepted By */
            accepted_by: string;
            /** App */
            app: string;
            /** Billing Digest */
            billing_digest: string;
            /** Controller */
            controller: {
                [key: string]: string;
            };
            /** Created Ms */
            created_ms: number;
            /** Environment */
            environment: string;
            /** Instance Id */
            instance_id: number;
            /** Is Leaving */
            is_leaving: boolean;
            /** Owner Project */
            owner_project: string;
            phase: components["schemas"]["InstancePhase"];
            /** Runtime */
            runtime: string;
            /** Runtime Id */
            runtime_id: number;
            /** Seq */
            seq: number;
            /** Tenant */
            tenant: string;
            /** Version */
            version: string;
            /** Withdraw Within Ms */
            withdraw_within_ms: number;
        };
        /**
         * SharedRuntimeView
         * @description A runtime with all that the caller may see of it.
         */
        SharedRuntimeView: {
            /** Attachments */
            attachments: components["schemas"]["SharedAttachment"][];
            /** Billing Rule */
            billing_rule: string;
            /** Parted */
            parted?: components["schemas"]["SharedParting"][];
            /** People */
            people?: components["schemas"]["SharedPerson"][];
            runtime: components["schemas"]["SharedRuntimeRow"];
            settlement?: components["schemas"]["SharedSettlement"] | null;
            /** Submit Rights */
            submit_rights: components["schemas"]["SubmitRight"][];
            /** Used Until Ms */
            used_until_ms?: number | null;
            /** Workers */
            workers: components["schemas"]["SharedWorker"][];
        };
        /**
         * SharedRuntimeWish
         * @description A runtime that a tenant wants to share, and who is to pay for what steers it.
         */
        SharedRuntimeWish: {
            /** App */
            app: string;
            /** Controller */
            controller?: {
                [key: string]: string;
            };
            /** Counts */
            counts?: {
                [key: string]: number;
            };
            /** Environment */
            environment: string;
            /** Parameters */
            parameters?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** Project */
            project: string;
            /** Rates */
            rates?: {
                [key: string]: number;
            };
            /** Runtime */
            runtime: string;
            /** Version */
            version: string;
            /**
             * Withdraw Within Ms
             * @default 300000
             */
            withdraw_within_ms?: number;
        };
        /**
         * SharedSettlement
         * @description What a project owes another for use of its workers.
         */
        SharedSettlement: {
            /** Accepted By */
            accepted_by: string;
            /** Rates */
            rates: {
                [key: string]: number;
            };
            /** Seq */
            seq: number;
            /** Since Ms */
            since_ms: number;
        };
        /**
         * SharedUsage
         * @description Who used what on whose workers of a runtime in a period.
         */
        SharedUsage: {
            /** Balances */
            balances: components["schemas"]["SharedBalance"][];
            /** Currency */
            currency: string;
            /** From Ms */
            from_ms: number;
            /** Journal Size */
            journal_size: number;
            /** Rows */
            rows: components["schemas"]["SharedUseSum"][];
            /** Runtime */
            runtime: string;
            /** Runtime Id */
            runtime_id: number;
            settlement: components["schemas"]["SharedSettlement"] | null;
            /** To Ms */
            to_ms: number;
            /** Told Until Ms */
            told_until_ms: number | null;
        };
        /**
         * SharedUseEntry
         * @description So much of a unit did a project use on workers of a project.
         */
        SharedUseEntry: {
            /** Quantity */
            quantity: number;
            /** Source */
            source: string;
            /** Unit */
            unit: string;
            /** User */
            user: string;
        };
        /**
         * SharedUseSum
         * @description What a project used on a project's workers in a period, and what that comes to.
         */
        SharedUseSum: {
            /** Beyond */
            beyond: number;
            /** First Seq */
            first_seq: number;
            /** Last Seq */
            last_seq: number;
            /** Owed Micros */
            owed_micros: number;
            /** Quantity */
            quantity: number;
            /** Reports */
            reports: number;
            /** Rule Seqs */
            rule_seqs: number[];
            /** Seqs */
            seqs: number[];
            /** Source */
            source: string;
            /** Unit */
            unit: string;
            /** User */
            user: string;
        };
        /**
         * SharedWorker
         * @description A worker that a project contributed: on its lease, and at its cost.
         */
        SharedWorker: {
            /** Component Key */
            component_key: string;
            /** Deadline Ms */
            deadline_ms: number | null;
            /** Lease Id */
            lease_id: number | null;
            /** Member Id */
            member_id: number;
            phase: components["schemas"]["ContributionPhase"];
            /** Project */
            project: string;
            /** Role */
            role: string;
            /** Seq */
            seq: number;
            /** Since Ms */
            since_ms: number;
        };
        /**
         * ShareState
         * @description A fair share, and what was used of late, by which one stands in the queue.
         *
         *     Usage counts milli-shares of GPUs times milliseconds (work without GPUs by its cores), and
         *     halves with every half-life of the settings. Whoever has the least of it for each share is next.
         *     Numbers can be beyond 2^53 and are told as digits.
         */
        ShareState: {
            /** Is Default */
            is_default: boolean;
            /** Project */
            project: string | null;
            /** Share */
            share: number;
            /** Tenant */
            tenant: string;
            /** Usage Gpu Milli Ms */
            usage_gpu_milli_ms: string;
            /** Usage Per Share */
            usage_per_share: string;
        };
        /**
         * ShownKey
         * @description A key, shown this once.
         */
        ShownKey: {
            /** Account */
            account: string;
            /** Expires Ms */
            expires_ms: number;
            /** Key */
            key: string;
            /** Key Id */
            key_id: string;
        };
        /**
         * SourceTier
         * @description Whose source of artifacts it is: everybody's, or one tenant's own.
         * @enum {string}
         */
        SourceTier: "platform" | "tenant";
        /**
         * StoryBroken
         * @description How a story ends: which rule, on which line of the text, is broken where and by whom.
         */
        StoryBroken: {
            /** Domain */
            domain: string;
            /** Jobs */
            jobs: string[];
            kind: components["schemas"]["DomainKind"] | null;
            /** Line */
            line: number | null;
            /** Rule */
            rule: string;
            /** Sentence */
            sentence: string;
        };
        /**
         * StoryExcuse
         * @description The exception, or the rule with hours, by which the policy lets it happen.
         */
        StoryExcuse: {
            /** Line */
            line: number | null;
            /** Rule */
            rule: string;
        };
        /**
         * StoryJob
         * @description A job of a story, and whose it is.
         */
        StoryJob: {
            /** Job */
            job: string;
            /** Project */
            project: string | null;
            /** Tenant */
            tenant: string;
            /** Who */
            who: string;
        };
        /**
         * StoryPlace
         * @description Where a job is after a step.
         */
        StoryPlace: {
            /** Job */
            job: string;
            /** Node */
            node: string | null;
            /**
             * Phase
             * @enum {string}
             */
            phase: "away" | "waiting" | "claiming" | "running" | "leaving";
            /** Seats */
            seats: string[];
        };
        /**
         * StoryStep
         * @description What happens, and where everybody is after it.
         */
        StoryStep: {
            /**
             * Do
             * @enum {string}
             */
            do: "arrive" | "withdraw" | "place" | "preempt" | "start" | "evict" | "leave" | "finish" | "lose" | "regain" | "unlabel" | "label" | "clear" | "renew";
            /** Job */
            job: string | null;
            /** Lost */
            lost: string[];
            /** Node */
            node: string | null;
            /** Number */
            number: number;
            /** Places */
            places: components["schemas"]["StoryPlace"][];
            /** Rule */
            rule: string | null;
            /** Sentence */
            sentence: string;
            /** Who */
            who: string | null;
        };
        /**
         * StorySubject
         * @description What a story is about.
         * @enum {string}
         */
        StorySubject: "entry" | "instance" | "invoice" | "node" | "policy" | "project" | "runtime" | "tenant";
        /**
         * Strategy
         * @description How to choose among nodes that fit.
         * @enum {string}
         */
        Strategy: "round_robin" | "best_fit" | "weighted" | "fragmentation_aware";
        /** @description An event; `event` is its type, `data` the CloudEvent as JSON. */
        StreamedEvent: {
            data: string;
            event: string;
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /**
         * Stretch
         * @description For ``from_ms <= t < to_ms`` a lease held this amount of a share, and by which records.
         */
        Stretch: {
            /** Amount */
            amount: number;
            /** Device */
            device: number | null;
            /** From Ms */
            from_ms: number;
            /** From Seq */
            from_seq: number;
            kind: components["schemas"]["ResourceKind"];
            /** Lease Id */
            lease_id: number;
            /** Node */
            node: string;
            reason: components["schemas"]["PreemptionReason"] | null;
            /** To Ms */
            to_ms: number;
            /** To Seq */
            to_seq: number;
            /** Used */
            used: string;
        };
        /**
         * SubmitDenial
         * @description Why nothing is submitted there, in the order in which it is asked.
         * @enum {string}
         */
        SubmitDenial: "runtime_leaving" | "not_attached" | "owner_not_attached" | "policy_ended" | "no_policy";
        /**
         * SubmitQuestion
         * @description Whether the caller may submit to a queue of a project, which may be his own.
         */
        SubmitQuestion: {
            /** Owner */
            owner: string;
            /** Queue */
            queue: string;
        };
        /**
         * SubmitRight
         * @description Who may submit to whose queues, and why; all else is denied.
         */
        SubmitRight: {
            /** Limits */
            limits: {
                [key: string]: number;
            };
            /** Owner */
            owner: string;
            /** Person */
            person: string | null;
            /** Policy */
            policy: string | null;
            /** Project */
            project: string | null;
            /** Queue */
            queue: string | null;
            /** Seq */
            seq: number;
            /** Until Ms */
            until_ms: number | null;
        };
        /**
         * SubmitVerdict
         * @description Whether he may, and from which record that follows.
         */
        SubmitVerdict: {
            denied: components["schemas"]["SubmitDenial"] | null;
            /** Is Allowed */
            is_allowed: boolean;
            /** Limits */
            limits: {
                [key: string]: number;
            };
            /** Policy */
            policy: string | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * Supposed
         * @description What is supposed about a waiting request: more quota, new nodes, another generation.
         */
        Supposed: {
            generation?: components["schemas"]["HardwareGeneration"] | null;
            /**
             * Nodes
             * @default 0
             */
            nodes?: number;
            /** Quota */
            quota?: {
                [key: string]: number;
            };
        };
        /**
         * SupposedEnd
         * @description It would leave the queue without having run.
         */
        SupposedEnd: {
            /** Cause */
            cause: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            outcome: "ends";
        };
        /**
         * SupposedRefusal
         * @description As another request it would be refused.
         */
        SupposedRefusal: {
            /** Denied */
            denied: components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            outcome: "refused";
        };
        /**
         * SupposedStart
         * @description It would start at once; so many of its members on new nodes.
         */
        SupposedStart: {
            /** Members */
            members: number;
            /** On New Nodes */
            on_new_nodes: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            outcome: "starts";
        };
        /**
         * SupposedWait
         * @description It would still wait, and why.
         */
        SupposedWait: {
            entry: components["schemas"]["QueueEntry"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            outcome: "waits";
        };
        /**
         * SurplusHeld
         * @description By how much one limit is passed, in milli-shares where it is of GPUs: now, and afterwards.
         */
        SurplusHeld: {
            /** Over */
            over: number;
            /** Over After */
            over_after: number;
        };
        /**
         * SurplusLease
         * @description Such a lease, what it holds, and what its loss is reckoned at.
         *
         *     A gang's loss is told with its first member.
         */
        SurplusLease: {
            /** Cost */
            cost: number;
            held: components["schemas"]["Held"];
            /** Lease Id */
            lease_id: number | null;
            /** Node */
            node: string;
            /** Project */
            project: string | null;
            /** Tenant */
            tenant: string;
            /** Until Ms */
            until_ms: number;
        };
        /**
         * TakenCall
         * @description A question, for the operator that is to answer it: from whom, and what.
         */
        TakenCall: {
            /** Argv */
            argv: string[];
            /** Call Id */
            call_id: number;
            /** Correlation Id */
            correlation_id: string;
            /** Expires Ms */
            expires_ms: number;
            /** Instance Id */
            instance_id: number;
            part?: components["schemas"]["CallPart"] | null;
            /** Principal */
            principal: string;
            /** Project */
            project: string;
            /** Stdin */
            stdin: string;
            /** Tenant */
            tenant: string;
            verb: components["schemas"]["CallVerb"];
        };
        /**
         * TakingStatus
         * @description What became of such a request in its cell.
         * @enum {string}
         */
        TakingStatus: "queued" | "held" | "turned_away" | "ended";
        /**
         * TaskPhase
         * @description How far a task has come.
         * @enum {string}
         */
        TaskPhase: "blocked" | "ready" | "submitted" | "backing_off" | "succeeded" | "reused" | "failed" | "skipped" | "cancelled";
        /**
         * TaskReport
         * @description What an attempt says of itself: what it made, by content, and where it saved its work.
         */
        TaskReport: {
            /** Attempt */
            attempt: number;
            /** Checkpoint */
            checkpoint?: string | null;
            /** Outputs */
            outputs?: {
                [key: string]: string;
            };
            /** Task */
            task: string;
        };
        /**
         * TeardownReport
         * @description Whether what a lease held is really free; if not, it is fenced.
         */
        TeardownReport: {
            /** Clean */
            clean: boolean;
        };
        /**
         * Tenant
         * @description Who pays; ``revision`` is also its ``ETag``.
         */
        Tenant: {
            /** Display Name */
            display_name: string;
            /** Is Open */
            is_open: boolean;
            /** Revision */
            revision: number;
            /** Tenant */
            tenant: string;
        };
        /**
         * TermReserved
         * @description So long a term would put off a waiting request; one of ``longest_ms`` would not.
         */
        TermReserved: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "term_reserved";
            /** Longest Ms */
            longest_ms: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested Ms */
            requested_ms: number;
            /** Starts Ms */
            starts_ms: number;
        };
        /**
         * TermTooLong
         * @description A longer term than may be asked for there.
         */
        TermTooLong: {
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "term_too_long";
            /** Longest Ms */
            longest_ms: number;
            reason: components["schemas"]["PendingReason"];
            /** Requested Ms */
            requested_ms: number;
        };
        /**
         * Timeline
         * @description All that is kept under a correlation id and is the caller's to see, by time.
         */
        Timeline: {
            /** Correlation Id */
            correlation_id: string;
            /** Entries */
            entries: components["schemas"]["TimelineEntry"][];
            /**
             * Is Cut
             * @default false
             */
            is_cut?: boolean;
        };
        /**
         * TimelineEntry
         * @description One thing that happened: the request, a decision, another event, a span, a log line.
         */
        TimelineEntry: {
            /** At Ms */
            at_ms: number;
            /** Details */
            details: {
                [key: string]: unknown;
            };
            /** Duration Ms */
            duration_ms?: number | null;
            /** Name */
            name: string;
            /**
             * Source
             * @enum {string}
             */
            source: "request" | "decision" | "event" | "span" | "log";
        };
        /**
         * Token
         * @description What is known of a token.
         */
        Token: {
            /** Expires Ms */
            expires_ms: number;
            /** Issued Ms */
            issued_ms: number;
            /** Keys */
            keys: ("scheduler.catalog.read" | "scheduler.instance.read" | "scheduler.instance.create" | "scheduler.instance.update" | "scheduler.instance.delete" | "scheduler.queue.submit" | "scheduler.queue.read" | "scheduler.queue.cancel" | "scheduler.node.read" | "scheduler.node.operate" | "scheduler.node.report" | "scheduler.job.exec" | "scheduler.endpoint.open" | "scheduler.lease.read" | "scheduler.lease.hold" | "scheduler.lease.evict" | "scheduler.quota.read" | "scheduler.quota.set" | "scheduler.project_quota.set" | "scheduler.booking.read" | "scheduler.booking.manage" | "scheduler.settings.read" | "scheduler.settings.set" | "scheduler.isolation.read" | "scheduler.isolation.set" | "scheduler.catalog.publish" | "scheduler.entitlement.set" | "scheduler.artifact.manage" | "scheduler.webhook.manage" | "scheduler.shared_runtime.read" | "scheduler.shared_runtime.manage" | "scheduler.shared_runtime.join" | "scheduler.host_privilege.grant" | "scheduler.cell.read" | "scheduler.cell.operate" | "scheduler.cell.home" | "iam.tenant.read" | "iam.tenant.manage" | "iam.project.manage" | "iam.role.manage" | "iam.member.read" | "iam.member.manage" | "iam.service_account.read" | "iam.service_account.manage" | "iam.token.issue" | "iam.token.revoke" | "journal.record.read" | "metering.usage.read" | "metering.finding.report" | "billing.rate_card.read" | "billing.rate_card.set" | "billing.budget.read" | "billing.budget.set" | "billing.project_budget.set" | "billing.invoice.read" | "billing.invoice.issue" | "telemetry.metrics.read" | "telemetry.trace.read" | "iam.break_glass.use")[] | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "human" | "service_account" | "node" | "runtime_operator";
            /** Principal */
            principal: string;
            /** Revoked */
            revoked: boolean;
            /** Single Use */
            single_use: boolean;
            /** Token Id */
            token_id: string;
        };
        /**
         * TokenClaims
         * @description What a lease token says.
         */
        TokenClaims: {
            /** Audience */
            audience: string;
            /** Expires Ms */
            expires_ms: number;
            /** Generation */
            generation: number;
            /** Lease Id */
            lease_id: number;
            /** Operations */
            operations: components["schemas"]["Operation"][];
            /** Resource */
            resource: string;
            /** Tenant */
            tenant: string;
            /** Token Id */
            token_id: string;
        };
        /**
         * TokenDenied
         * @description No token for the lease, and the one reason.
         */
        TokenDenied: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            answer: "token_denied";
            reason: components["schemas"]["MintDenial"];
        };
        /**
         * TokenWish
         * @description What a token for a lease is to allow, for whom and for how long.
         */
        TokenWish: {
            /** Audience */
            audience?: string | null;
            /** Generation */
            generation?: number | null;
            /** Operations */
            operations: components["schemas"]["Operation"][];
            /**
             * Ttl Ms
             * @default 300000
             */
            ttl_ms?: number;
        };
        /**
         * TooManyWaiting
         * @description It would have to wait, and as many requests wait as may.
         */
        TooManyWaiting: {
            /** Denied Scope */
            denied_scope?: string[] | null;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "too_many_waiting";
            reason: components["schemas"]["PendingReason"];
            /** Waiting */
            waiting: number;
            /** Waiting Max */
            waiting_max: number;
        };
        /**
         * Topology
         * @description How cores and devices hang together: caches, and the memory node of each device.
         *
         *     A machine that tells of caches tells of all that its cores are in. A device whose memory node is
         *     not known has ``null``. Rack, segment and region are labels of the node by these names.
         */
        Topology: {
            /** Caches */
            caches?: components["schemas"]["CacheCores"][];
            /** Gpu Numa */
            gpu_numa?: (number | null)[];
        };
        /**
         * TouchedOnes
         * @description How many, and the numbers of the first; none are told to one who may not read them.
         */
        TouchedOnes: {
            /** Count */
            count: number;
            /** First */
            first: number[];
        };
        /**
         * TrustPolicy
         * @description What is asked of which nodes, as the document that was set; the ``ETag`` is its digest.
         */
        TrustPolicy: {
            /** Digest */
            digest: string;
            /** Document */
            document: string;
        };
        /**
         * TrustPolicyChange
         * @description The document (JSON) that is to count from now on, as a whole.
         */
        TrustPolicyChange: {
            /** Document */
            document: string;
        };
        /**
         * TrustRule
         * @description Whose word lets a program in as an account; ``keys`` (if any) are all that it carries.
         */
        TrustRule: {
            /** Audience */
            audience: string;
            /** Conditions */
            conditions: string[];
            /** Issuer */
            issuer: string;
            /** Keys */
            keys: ("scheduler.catalog.read" | "scheduler.instance.read" | "scheduler.instance.create" | "scheduler.instance.update" | "scheduler.instance.delete" | "scheduler.queue.submit" | "scheduler.queue.read" | "scheduler.queue.cancel" | "scheduler.node.read" | "scheduler.node.operate" | "scheduler.node.report" | "scheduler.job.exec" | "scheduler.endpoint.open" | "scheduler.lease.read" | "scheduler.lease.hold" | "scheduler.lease.evict" | "scheduler.quota.read" | "scheduler.quota.set" | "scheduler.project_quota.set" | "scheduler.booking.read" | "scheduler.booking.manage" | "scheduler.settings.read" | "scheduler.settings.set" | "scheduler.isolation.read" | "scheduler.isolation.set" | "scheduler.catalog.publish" | "scheduler.entitlement.set" | "scheduler.artifact.manage" | "scheduler.webhook.manage" | "scheduler.shared_runtime.read" | "scheduler.shared_runtime.manage" | "scheduler.shared_runtime.join" | "scheduler.host_privilege.grant" | "scheduler.cell.read" | "scheduler.cell.operate" | "scheduler.cell.home" | "iam.tenant.read" | "iam.tenant.manage" | "iam.project.manage" | "iam.role.manage" | "iam.member.read" | "iam.member.manage" | "iam.service_account.read" | "iam.service_account.manage" | "iam.token.issue" | "iam.token.revoke" | "journal.record.read" | "metering.usage.read" | "metering.finding.report" | "billing.rate_card.read" | "billing.rate_card.set" | "billing.budget.read" | "billing.budget.set" | "billing.project_budget.set" | "billing.invoice.read" | "billing.invoice.issue" | "telemetry.metrics.read" | "telemetry.trace.read" | "iam.break_glass.use")[] | null;
            /** Rule */
            rule: string;
        };
        /**
         * TrustWish
         * @description A rule as it is to be: what the issuer must say, for whom, and of whom.
         *
         *     Each condition is `CLAIM=PATTERN`; a `*` stands for any characters. All of them have to hold.
         */
        TrustWish: {
            /** Audience */
            audience: string;
            /** Conditions */
            conditions: string[];
            /** Issuer */
            issuer: string;
            /** Rule */
            rule: string;
        };
        /**
         * UnbookedTime
         * @description A time of a series that could not be booked yet; it is tried again until it begins.
         */
        UnbookedTime: {
            /** Earliest Ms */
            earliest_ms?: number | null;
            /** Ends Ms */
            ends_ms: number;
            /** Starts Ms */
            starts_ms: number;
            /** Why */
            why: string;
        };
        /**
         * Unhonoured
         * @description What an executor cannot honour of what a job asks for.
         * @enum {string}
         */
        Unhonoured: "gpu_share" | "core_share" | "image";
        /**
         * UnitTold
         * @description What was told of one unit: how much in all, in how many reports, and up to when.
         */
        UnitTold: {
            /** Component Key */
            component_key: string | null;
            /** Quantity */
            quantity: number;
            /** Reports */
            reports: number;
            /** Told Until Ms */
            told_until_ms: number;
            /** Unit */
            unit: string;
        };
        /**
         * UntrustedReason
         * @description Why evidence is not believed, or what it proves is not allowed. There is no "other".
         * @enum {string}
         */
        UntrustedReason: "malformed" | "missing_field" | "key_or_signature_shape" | "eventlog_malformed" | "weak_key" | "ak_attributes" | "scheme_mismatch" | "bad_signature" | "challenge_signature" | "bad_magic" | "not_a_quote" | "chain" | "ek_chain" | "ak_chain" | "rim_chain" | "rim_signature" | "issuer_mismatch" | "not_a_ca" | "not_enrolled" | "identity_mismatch" | "nonce_mismatch" | "nonce_spent" | "report_data_mismatch" | "clock_rollback" | "reset_count_changed" | "restart_count_changed" | "firmware_version_changed" | "weak_bank" | "pcr_selection" | "pcr_digest_mismatch" | "eventlog_missing" | "eventlog_replay_mismatch" | "eventlog_digest_mismatch" | "pcr_policy" | "firmware" | "no_measurements" | "measurement_mismatch" | "device_missing" | "code_hash" | "configuration_hash" | "fwid" | "svn" | "mode" | "flags" | "debug" | "debug_mode" | "verifier_fault";
        /**
         * Usage
         * @description What a tenant used: the dearest rows first, and the sum of all, those left out as well.
         */
        Usage: {
            /** As Of Ms */
            as_of_ms: number;
            /**
             * Basis
             * @constant
             */
            basis: "metered";
            /** Currency */
            currency: string;
            /** From Ms */
            from_ms: number;
            /** Journal Size */
            journal_size: number;
            /** Rows */
            rows: components["schemas"]["UsageRow"][];
            /** Rows Left */
            rows_left: number;
            /** Tenant */
            tenant: string;
            /** To Ms */
            to_ms: number;
            total: components["schemas"]["Amounts"];
        };
        /**
         * UsageRow
         * @description The usage of one project, tag, generation of GPUs, lease class, and member; null for none.
         */
        UsageRow: {
            /** Block Mib Seconds */
            block_mib_seconds: number;
            /** Cost Micros */
            cost_micros: number;
            /** Cpu Milli Seconds */
            cpu_milli_seconds: number;
            generation: components["schemas"]["HardwareGeneration"] | null;
            /** Gpu Micro Seconds */
            gpu_micro_seconds: number;
            lease_class: components["schemas"]["LeaseClass"];
            /** Leases */
            leases: number;
            /** Mem Mib Seconds */
            mem_mib_seconds: number;
            member?: components["schemas"]["LineMember"] | null;
            /** Project */
            project: string | null;
            /** Running */
            running: number;
            /** Tag */
            tag: string | null;
        };
        /**
         * UsageTeller
         * @description A source, and the number of its last report.
         */
        UsageTeller: {
            /** Last Sequence */
            last_sequence: number;
            /** Principal */
            principal: string;
        };
        /**
         * VerificationReason
         * @description Why an artifact is verified, or failed to be.
         * @enum {string}
         */
        VerificationReason: "digest_differs" | "too_large" | "not_signed" | "signature_malformed" | "key_unknown" | "subject_differs" | "signature_invalid" | "comment_invalid" | "digest_matches" | "signature_valid";
        /**
         * Victim
         * @description A lease that would have to go; of another tenant neither its number nor a name is told.
         */
        Victim: {
            lease_class: components["schemas"]["LeaseClass"];
            /** Lease Id */
            lease_id: number | null;
            priority: components["schemas"]["Priority"];
            /** Tenant */
            tenant: string;
        };
        /**
         * VictimsLeaving
         * @description Room is being made: leases of others are ending, the last by ``until_ms``.
         */
        VictimsLeaving: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            detail: "victims_leaving";
            /** Leases */
            leases: number;
            reason: components["schemas"]["PendingReason"];
            /** Until Ms */
            until_ms: number;
        };
        /**
         * WatchedConnections
         * @description How often an operator's connections were looked at, and which were not to the server.
         */
        WatchedConnections: {
            /** Looks */
            looks: number;
            /** Others */
            others?: string[];
        };
        /** @description The last event, and why there are no more. A stream without one was cut. */
        WatchEnd: {
            data: string;
            /** @constant */
            event: "end";
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /** @description One event of `GET /v1/watch`. A comment (`: beat`) is none. */
        WatchEvent: components["schemas"]["WatchRecord"] | components["schemas"]["WatchEnd"];
        /** @description A record of the journal; `event` is its kind, `id` its number, `data` the record as JSON. */
        WatchRecord: {
            data: string;
            /** @enum {string} */
            event: "admission_approved" | "admission_denied" | "request_queued" | "request_blocked" | "request_cancelled" | "room_reserved" | "lease_renewed" | "lease_released" | "lease_expired" | "lease_revoked" | "lease_fenced" | "fence_cleared" | "lease_preempted" | "node_registered" | "node_departed" | "node_mode_changed" | "node_quarantined" | "node_quarantine_lifted" | "node_enrolled" | "node_enrolment_withdrawn" | "attestation_verdict" | "quota_changed" | "policy_changed" | "token_issued" | "token_refused" | "break_glass" | "checkpoint_reported" | "tenant_created" | "tenant_changed" | "project_created" | "project_changed" | "member_changed" | "service_account_created" | "service_account_changed" | "rate_card_changed" | "invoice_issued" | "budget_changed" | "budget_state_changed" | "finding_reported" | "share_changed" | "settings_changed" | "state_checkpoint" | "leader_elected" | "access_token_issued" | "access_token_revoked" | "access_refused" | "lease_restored" | "renewal_denied" | "isolation_policy_set" | "room_postponed" | "room_lost" | "domain_scrubbed" | "isolation_violated" | "clock_repaired" | "isolation_enforced" | "isolation_finding" | "isolation_finding_closed" | "exec_started" | "exec_ended" | "files_copied" | "graph_submitted" | "graph_task_retried" | "graph_ended" | "app_published" | "app_changed" | "app_entitlement_set" | "app_instance_requested" | "app_instance_changed" | "app_instance_moved" | "app_member_changed" | "app_operation_changed" | "artifact_source_set" | "artifact_changed" | "artifact_credential_issued" | "app_usage_reported" | "app_checked" | "app_webhook_set" | "role_set" | "shared_runtime_created" | "shared_runtime_ended" | "shared_attachment_changed" | "shared_contribution_changed" | "submit_policy_set" | "shared_credential_used" | "app_instance_called" | "shared_use_told" | "shared_settlement_set" | "app_endpoint_opened" | "app_endpoint_closed" | "role_offered" | "role_offer_ended" | "principal_homed" | "account_trust_set" | "account_trust_deleted" | "account_key_added" | "account_key_ended" | "account_token_granted" | "node_labelled" | "node_noted" | "node_note_ended" | "mig_change_begun" | "mig_change_ended" | "window_planned" | "window_phase_changed" | "window_ended" | "calendar_set" | "calendar_withdrawn" | "booked" | "booking_nodes_changed" | "booking_ended" | "series_set" | "series_withdrawn" | "cell_joined" | "cell_left" | "cell_reached" | "cell_cut_off" | "cell_heard" | "global_asked" | "global_sent" | "global_told" | "global_withdrawn" | "home_met" | "home_left" | "home_heard" | "global_taken" | "global_given_back" | "node_health_changed" | "node_test_begun" | "node_test_ended" | "global_recalled" | "booking_begun";
            /** @description Where to go on from, as `Last-Event-ID`. */
            id?: string;
        };
        /**
         * Webhook
         * @description Where events of a tenant or project are sent; ``revision`` is what ``If-Match`` names.
         */
        Webhook: {
            /** Is Enabled */
            is_enabled: boolean;
            /** Project */
            project: string | null;
            /** Revision */
            revision: number;
            /** Rotated Ms */
            rotated_ms: number | null;
            /** Tenant */
            tenant: string;
            /** Types */
            types: string[];
            /** Url */
            url: string;
            /** Webhook */
            webhook: string;
        };
        /**
         * WebhookChange
         * @description A webhook as it is to be from now on.
         */
        WebhookChange: {
            /**
             * Is Enabled
             * @default true
             */
            is_enabled?: boolean;
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant: string;
            /** Types */
            types?: string[];
            /** Url */
            url: string;
            /** Webhook */
            webhook: string;
        };
        /**
         * WebhookPlace
         * @description A webhook of a tenant or of a project, by its name.
         */
        WebhookPlace: {
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant: string;
            /** Webhook */
            webhook: string;
        };
        /**
         * WebhookQuestion
         * @description Which deliveries to tell, the newest first.
         */
        WebhookQuestion: {
            /** Before */
            before?: number | null;
            /**
             * Limit
             * @default 100
             */
            limit?: number;
            /** Project */
            project?: string | null;
            state?: components["schemas"]["DeliveryState"] | null;
            /** Tenant */
            tenant: string;
            /** Webhook */
            webhook: string;
        };
        /**
         * WebhookReplay
         * @description Which event to send again; without an id, all dead letters.
         */
        WebhookReplay: {
            /** Id */
            id?: number | null;
            /** Project */
            project?: string | null;
            /** Tenant */
            tenant: string;
            /** Webhook */
            webhook: string;
        };
        /**
         * WebhookReplayed
         * @description How many events are sent again.
         */
        WebhookReplayed: {
            /** Events */
            events: number;
        };
        /**
         * WebhookSecret
         * @description What a receiver checks signatures with; told once, when there is a new one.
         */
        WebhookSecret: {
            /** Secret */
            secret: string | null;
            /** Webhook */
            webhook: string;
        };
        /**
         * WhatIf
         * @description What would become of a waiting request now if what is supposed were so.
         */
        WhatIf: {
            new_node: components["schemas"]["NewNodeKind"] | null;
            /** Result */
            result: components["schemas"]["SupposedStart"] | components["schemas"]["SupposedWait"] | components["schemas"]["SupposedRefusal"] | components["schemas"]["SupposedEnd"];
            supposed: components["schemas"]["Supposed"];
        };
        /**
         * WindowConsequence
         * @description What a window would do to what runs and waits now.
         */
        WindowConsequence: {
            /** Elsewhere */
            elsewhere: number;
            /** Leases */
            leases: components["schemas"]["LeavingLease"][];
            /** Leaving */
            leaving: number;
            /** Staying */
            staying: number;
            /** Waiting */
            waiting: number;
        };
        /**
         * WindowPhase
         * @description How far a window of maintenance has come.
         *
         *     Back to ``planned`` only where the journal's clock was set right: what had begun by the wrong
         *     time is ahead again.
         * @enum {string}
         */
        WindowPhase: "planned" | "closing" | "open";
        /**
         * WindowSet
         * @description A window is announced; or (dry run) what it would do.
         */
        WindowSet: {
            /**
             * Answer
             * @constant
             */
            answer: "done";
            consequence?: components["schemas"]["WindowConsequence"] | null;
            /** Seq */
            seq: number | null;
        };
        /**
         * Words
         * @description Sentences for closed words, the same that the command line says: list, word, sentence.
         *
         *     A sentence with names in braces is to be filled in with the numbers beside its word:
         *     `{name}`, `{name:how}` (`count`, `money`, `span`, `moment`, `soon`, `scope`, `leases`,
         *     `amount UNIT`, `plural NOUN`), `{a-b:how}` for a difference that is never below zero, and
         *     `[name?text|otherwise]` or `[name=word?text|otherwise]` for one of two texts.
         */
        Words: {
            /** Words */
            words: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        /**
         * WorkerAction
         * @description What a project can do with a worker that is its own in a shared runtime.
         * @enum {string}
         */
        WorkerAction: "contribute" | "drain" | "withdraw";
        /**
         * WorkerChange
         * @description A worker that a project gives, drains or takes back.
         */
        WorkerChange: {
            action: components["schemas"]["WorkerAction"];
            /** Component Key */
            component_key: string;
            /** Role */
            role?: string | null;
            /** Within Ms */
            within_ms?: number | null;
        };
        /**
         * WorkItem
         * @description What is to be so for one lease; ``spec`` is there until its agent said what became of it.
         */
        WorkItem: {
            /** Is Unstarted */
            is_unstarted: boolean;
            /** Lease Id */
            lease_id: number;
            /** Output Bytes */
            output_bytes: number;
            /** Spec */
            spec: string | null;
            /** Warn Until Ms */
            warn_until_ms: number | null;
            /**
             * Wish
             * @enum {string}
             */
            wish: "run" | "end" | "forget";
        };
        /**
         * WorkReport
         * @description What an agent saw; ``life`` is when it began, in milliseconds: the latest counts.
         */
        WorkReport: {
            /** Life */
            life: number;
            /** Seen */
            seen: components["schemas"]["SeenJob"][];
        };
        /**
         * WouldGrant
         * @description The request would run at once, each member on its node.
         */
        WouldGrant: {
            /** Nodes */
            nodes: string[];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            plan: "grant";
            price: components["schemas"]["Price"];
        };
        /**
         * WouldPreempt
         * @description The request would run once these have gone, for which they have time until then.
         */
        WouldPreempt: {
            /** Loss Ratio Milli */
            loss_ratio_milli: number | null;
            /** Nodes */
            nodes: string[];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            plan: "preempt";
            price: components["schemas"]["Price"];
            /** Until Ms */
            until_ms: number;
            /** Victims */
            victims: components["schemas"]["Victim"][];
        };
        /**
         * WouldQueue
         * @description The request would wait; ``denied`` is null if only those before it are in its way.
         */
        WouldQueue: {
            /** Denied */
            denied: (components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"]) | null;
            estimate: components["schemas"]["Estimate"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            plan: "queue";
            price: components["schemas"]["Price"];
            /** Rules */
            rules?: components["schemas"]["ClosingRule"][];
            /**
             * Rules More
             * @default 0
             */
            rules_more?: number;
        };
        /**
         * WouldRefuse
         * @description The request would neither run nor wait.
         */
        WouldRefuse: {
            /** Denied */
            denied: components["schemas"]["DeadlinePassed"] | components["schemas"]["NoSuchHardware"] | components["schemas"]["NodesForbidden"] | components["schemas"]["LargerThanAnyNode"] | components["schemas"]["HeadroomKept"] | components["schemas"]["RoomClaimed"] | components["schemas"]["ReservedForOthers"] | components["schemas"]["NodesKeptApart"] | components["schemas"]["NotEnoughFree"] | components["schemas"]["Fragmented"] | components["schemas"]["VictimsLeaving"] | components["schemas"]["NodeClosed"] | components["schemas"]["NodeKeptApart"] | components["schemas"]["NodesClosed"] | components["schemas"]["TermReserved"] | components["schemas"]["NodesMaintained"] | components["schemas"]["NodeMaintained"] | components["schemas"]["NodesBooked"] | components["schemas"]["NodeBooked"] | components["schemas"]["ScopeClosed"] | components["schemas"]["PriorityTooHigh"] | components["schemas"]["LeaseClassForbidden"] | components["schemas"]["TermTooLong"] | components["schemas"]["TooManyWaiting"] | components["schemas"]["GpuGenerationRequired"] | components["schemas"]["GpuGenerationLimitExceeded"] | components["schemas"]["HardLimitExceeded"] | components["schemas"]["BurstCreditExhausted"] | components["schemas"]["BudgetExhausted"] | components["schemas"]["CostCapExceeded"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            plan: "refuse";
            price: components["schemas"]["Price"];
            /** Rules */
            rules?: components["schemas"]["ClosingRule"][];
            /**
             * Rules More
             * @default 0
             */
            rules_more?: number;
        };
    };
    responses: {
        /** @description `malformed`: the request is not HTTP, or its body is not JSON. */
        Error400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `unauthenticated`: there is no token, or it is not valid. */
        Error401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `forbidden`: you lack the permission in `details` at the scope there. */
        Error403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `not_found`: it does not exist, or you may not see it. */
        Error404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `method_not_allowed`: the path exists, but not with this method. */
        Error405: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `refused`: admission said no; `decision` says why. `conflict`: it exists already, or its state does not allow this. `illegal_transition`: no such step from the node's mode; `details` has those that there are. `limit_reached`: a limit of the server itself is reached. `not_honoured`: whoever would run it cannot give that; `details` has the numbers. `overlay_broadens`: a line about an app allows more than a wider one; `details` has which. `verification_failed`: an artifact is not what it should be; `details` has its digest and why. `instance_refused`: the app, its policy or its version does not allow this; `details` says why. `shared_runtime_refused`: a shared runtime is not made, or not used so; `details` says why. `evidence_contradicted`: a check of an app says what the journal does not; `details` says what. `call_unanswered`: an instance did not answer in time; `details` says whether it may have acted. */
        Error409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `stale`: it changed since you read it; read it again. */
        Error412: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `too_large`: the body is larger than the server takes. */
        Error413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_value`: a field is not as the contract says; `details` names it. */
        Error422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `precondition_required`: `If-Match` is needed here: the `ETag` of what you read. */
        Error428: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `rate_limited`: too many bad tokens or watchers, somebody searches already, or it was told just now. */
        Error429: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `damaged`: the journal was changed or is incomplete. `unsupported_schema`: the data was written by a newer version. `invariant_broken`: a fault of the server; its log says more. */
        Error500: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
        /** @description `unavailable`: no answer in time; it may have taken effect or not. `not_leader`: another replica decides; `details` may say which. `deposed`: another replica took over meanwhile. `clock_jumped`: the server's clock is wrong; nothing was decided. */
        Error503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    metrics_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_App_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_publish: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApp"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["App"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AppChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_version_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_AppVersion_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_version_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppVersionDetail"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_version_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                app: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AppVersionChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_version_check: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                app: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAppCheck"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppCheck"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    app_version_grant: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                app: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HostGrant"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_source_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ArtifactSource_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_source_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArtifactSourceChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Artifact_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_register: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewArtifact"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArtifactChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_pull: {
        parameters: {
            query?: {
                /** @description A part of it. */
                part?: string | null;
            };
            header?: {
                /** @description What gives leave to pull. */
                "Artifact-Credential"?: string;
            };
            path: {
                digest: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_fetch: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArtifactPlace"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactFetched"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_resolve: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArtifactQuestion"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactResolutions"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_verify: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArtifactPlace"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactVerdict"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    trust_policy_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrustPolicy"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    trust_policy_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrustPolicyChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    booking_series_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only of this tenant and its projects. */
                tenant?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ProjectSeries_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    booking_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only of this tenant and its projects. */
                tenant?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ProjectBooking_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    glass_break: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BreakGlass"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedToken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    capability_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapabilityKeys"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    capability_revocations: {
        parameters: {
            query?: {
                /** @description What was revoked from then on. */
                since?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revocations"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cell_home_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HomeShown"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cell_home_leave: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cell_home_letter: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HomeLetter"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LetterReply"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cell_home_offer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CellOffer"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cell_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_CellShown_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cell_join: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CellJoin"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cell_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                cell: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CellShown"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    cell_leave: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                cell: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CellLeave"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    self_watch: {
        parameters: {
            query?: {
                /** @description Go on after the event of this id. */
                after?: string | null;
                /** @description Whether to stay where all was told. */
                follow?: string;
            };
            header?: {
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    entitlement_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Entitlement_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    entitlement_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntitlementChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    entitlement_explain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntitlementPlace"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EffectivePolicy"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    event_list: {
        parameters: {
            query?: {
                /** @description Only what this request led to. */
                correlation?: string | null;
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Only of this instance. */
                instance?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                project?: string | null;
                /** @description Only what happened then or later. */
                since_ms?: number | null;
                tenant?: string | null;
                /** @description Only these types (`apps.instance.*`: all such); repeated, or commas. */
                types?: string[] | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_CloudEvent_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    event_watch: {
        parameters: {
            query?: {
                /** @description Go on after the event of this id. */
                after?: string | null;
                /** @description Only what this request led to. */
                correlation?: string | null;
                /** @description Whether to stay at the end of the journal. */
                follow?: string;
                /** @description Only of this instance. */
                instance?: string | null;
                project?: string | null;
                /** @description Only what happened then or later. */
                since_ms?: number | null;
                tenant?: string | null;
                /** @description Only these types (`apps.instance.*`: all such); repeated, or commas. */
                types?: string[] | null;
            };
            header?: {
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    federation_exchange: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityExchange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantedToken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    finding_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Only findings of this word. */
                finding?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Finding_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    fleet_picture: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` that was read; if it is still so, the answer is 304. */
                "If-None-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The picture; `ETag` is a digest of it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Picture"];
                };
            };
            /** @description It is as `If-None-Match` says */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    global_request_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_GlobalShown_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    global_request_ask: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskedEverywhere"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    global_request_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                global_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GlobalShown"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    global_request_withdraw: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                global_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    graph_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Graph_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    graph_submit: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGraph"];
            };
        };
        responses: {
            /** @description What would happen (dry run) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphPlan"];
                };
            };
            /** @description The graph is taken up */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Graph"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    graph_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                graph_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphDetail"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    graph_cancel: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                graph_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    graph_report: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                graph_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    graph_retry: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                graph_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GraphRetry"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    graph_plan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGraph"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphPlan"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    inbox_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only what was not read yet. */
                unread?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxNotices"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    inbox_read: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InboxReading"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxRead"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invitation_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Invitation_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invitation_accept: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitedTo"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invitation_decline: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitedTo"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invitation_leave: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitedTo"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    isolation_enforce: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IsolationPolicyChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IsolationEnforcement"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    isolation_lint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IsolationPolicyChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IsolationLint"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    isolation_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IsolationPolicy"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    isolation_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IsolationPolicyChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    isolation_preview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IsolationPolicyChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IsolationPreview"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    isolation_scrub: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DomainScrub"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    isolation_search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IsolationSearchWish"];
            };
        };
        responses: {
            /** @description A stream of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_list: {
        parameters: {
            query?: {
                /** @description Only tasks of this array, or index. */
                array_id?: number | null;
                /** @description Only tasks of this array, or index. */
                array_index?: number | null;
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only those that the caller submitted. */
                mine?: boolean;
                /** @description Only those with exactly this. */
                name?: string | null;
                /** @description Only those in one of these phases, with commas between them. */
                phase?: string | null;
                /** @description Only those with exactly this. */
                project?: string | null;
                /** @description Only those with exactly this. */
                tenant?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Job_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_submit: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewJob"];
            };
        };
        responses: {
            /** @description What would happen (dry run) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WouldGrant"] | components["schemas"]["WouldPreempt"] | components["schemas"]["WouldQueue"] | components["schemas"]["WouldRefuse"];
                };
            };
            /** @description The job has its lease */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description The job waits */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_cancel: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_exec: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewExec"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Exec"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_exec_end: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The program's id. */
                exec_id: string;
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_exec_type: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The program's id. */
                exec_id: string;
                job_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecInput"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecTaken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_exec_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The program's id. */
                exec_id: string;
                job_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecQuestion"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecOutput"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_output: {
        parameters: {
            query?: {
                /** @description Of this attempt; else the last one. */
                attempt?: number | null;
                /** @description Bytes in one answer, at most. */
                limit?: number;
                /** @description Whose output, of a gang. */
                member?: number;
                /** @description The first byte wanted. */
                offset?: number;
                /** @description Only what came at this time or later. */
                since_ms?: number;
                /** @description How long to wait for something new. */
                wait_s?: number;
            };
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOutput"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    job_file: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JobFile"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobFileRead"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    checkpoint_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    checkpoint_compare: {
        parameters: {
            query: {
                /** @description How many records it had. */
                new_size: number;
                /** @description How many records it had. */
                old_size: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JournalConsistency"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    checkpoint_key: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only on this node. */
                node?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Lease_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_request: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseRequest"];
            };
        };
        responses: {
            /** @description What would happen (dry run) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WouldGrant"] | components["schemas"]["WouldPreempt"] | components["schemas"]["WouldQueue"] | components["schemas"]["WouldRefuse"];
                };
            };
            /** @description The request runs */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Granted"];
                };
            };
            /** @description The request waits */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queued"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lease"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_release: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_checkpoint: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_clear_fence: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_evict: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Eviction"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_explain: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_JournalRecord_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_renew: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Renewal"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_teardown: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TeardownReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    lease_token: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                lease_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenWish"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedLeaseToken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    request_explain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    login_ways: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginWays"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Login"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedToken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    login_begin: {
        parameters: {
            query?: {
                /** @description Where it ends: a path of this server. */
                to?: string;
            };
            header?: never;
            path: {
                /** @description The provider's name. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the provider; `to` is where it ends */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    login_end: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The provider's name. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the page; with `login_refused` if nobody is let in */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    login_device: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The provider's name. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceLogin"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    login_poll: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The provider's name. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeviceQuestion"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeviceAnswer"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    calendar_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_MaintenanceCalendar_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    calendar_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                calendar: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CalendarWish"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    calendar_withdraw: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                calendar: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    window_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_MaintenanceWindow_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    window_plan: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWindow"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    window_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                window: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MaintenanceWindow"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    window_cancel: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                window: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    self_may: {
        parameters: {
            query?: {
                /** @description In this project of the tenant. */
                project?: string | null;
                /** @description In this tenant. */
                tenant?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MayDo"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    fleet_member_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Member_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    fleet_member_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Only with this label, `KEY=VALUE`; repeat it. */
                label?: string[] | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Node_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_register: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNode"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Node"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_depart: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_attestation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeAttestation"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_attest: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Attestation"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Attested"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_count: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CounterReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CountersTaken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_enrol: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnrolmentOffer"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EnrolmentChallenge"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_withdraw: {
        parameters: {
            query: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
                /** @description Of which kind. */
                kind: components["schemas"]["EvidenceKind"];
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_prove: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnrolmentProof"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Enrolled"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_execs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeExecsQuestion"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeExecs"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_exec_typed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The program's id. */
                exec_id: string;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeTypedQuestion"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeTyped"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_exec_wrote: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                /** @description The program's id. */
                exec_id: string;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeWritten"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeWrittenTaken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_health_report: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HealthReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_beat: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Heard"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_report: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Inventory"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_label: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeLabels"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelsSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_token: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeTokenWish"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedLeaseToken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_mig: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigWish"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModeSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_mig_cancel: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_mig_report: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_mode: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModeChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModeSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_nonce: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewNonce"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_note_add: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNote"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_note_end: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
                note_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_open: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
                /** @description Take it as it is, without its test. */
                untested?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModeSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_output: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OutputReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutputTaken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_quarantine: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Quarantine"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_lift: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
                /** @description Why; it is recorded. */
                note?: string;
                /** @description Without a fresh trusted verdict; needs `note`. */
                override?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_test: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_test_report: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeTestReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_ticket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeTicket"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_work: {
        parameters: {
            query: {
                /** @description The version that is known. */
                after?: number;
                /** @description The agent's version. */
                agent?: string | null;
                /** @description How the agent keeps jobs apart. */
                job_mode?: ("sandbox" | "users" | "trusted" | "closed") | null;
                /** @description The words of a specification that the agent understands. */
                knows?: string | null;
                /** @description When the agent began, in ms. */
                life: number;
                /** @description How long to wait for a change. */
                wait_s?: number;
            };
            header?: never;
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeWork"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    node_observe: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    notice_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoticeSettings"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    notice_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NoticeChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoticeSettings"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    notice_rotate: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoticeSettings"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    notice_test: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoticeTested"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    notice_verify: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NoticeCode"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoticeSettings"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    principal_home: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HomeChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    queue_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_QueueEntry_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    queue_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                entry_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueEntry"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    queue_cancel: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                entry_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    queue_whatif: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                entry_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Supposed"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIf"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    quota_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only of this tenant and its projects. */
                tenant?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_QuotaState_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    rates_read: {
        parameters: {
            query?: {
                /** @description The card that holds then; else now. */
                at_ms?: number | null;
                /** @description The card that holds for this tenant; else the list. */
                tenant?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Rates"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    rates_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRates"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    rates_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_RateChange_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    replica_read: {
        parameters: {
            query?: {
                /** @description Whether to tell the state's digest. */
                digest?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplicaState"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    role_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_CustomRole_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    role_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    role_delete: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleName"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ServiceAccount_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_create: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAccount"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_key_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_HeldKey_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_key_add: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyWish"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownKey"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_key_delete: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                account: string;
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_trust_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_TrustRule_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_trust_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrustWish"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    account_trust_delete: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                account: string;
                rule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    session_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserSession"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    session_begin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSession"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserSession"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    self_log_out: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    session_renew: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionRenewal"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserSession"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    session_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SessionHeld_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    session_end: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    settings_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    settings_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Settings"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    share_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only of this tenant and its projects. */
                tenant?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_ShareState_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    decision_story: {
        parameters: {
            query: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Its name, or its number. */
                name?: string | null;
                project?: string | null;
                /** @description What it is about; `policy` is the isolation policy. */
                subject: components["schemas"]["StorySubject"];
                tenant?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_JournalRecord_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Tenant_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_create: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTenant"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tenant"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScopeChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_budget_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetStanding"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_budget_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBudget"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_budget_remove: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    budget_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_BudgetStanding_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    decision_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Only records of this kind. */
                kind?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Decision_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invoice_draft: {
        parameters: {
            query?: {
                /** @description Begin of the period; else the month's, in UTC. */
                from_ms?: number | null;
                /** @description Of this project alone; else of the whole tenant. */
                project?: string | null;
                /** @description End of the period; else now, which is the latest. */
                to_ms?: number | null;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invoice_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InvoiceHead_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invoice_issue: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInvoice"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invoice_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                invoice: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invoice_correct: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                invoice: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Correction"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invoice_export: {
        parameters: {
            query?: {
                /** @description Every field of a line, or the columns of FOCUS. */
                format?: "csv" | "focus";
                /** @description Who runs the fleet, for FOCUS. */
                provider?: string;
            };
            header?: never;
            path: {
                invoice: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    invoice_trace: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                invoice: string;
                /** @description Which line of the invoice, the first is 1. */
                line: number;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Stretch_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_member_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Member_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_member_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Project_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_create: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProject"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScopeChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    booking_series_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                series: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesStanding"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    booking_series_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                series: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SeriesWish"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SeriesMade"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    booking_series_withdraw: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                series: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    booking_create: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBooking"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BookingMade"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    booking_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                booking: string;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectBooking"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    booking_cancel: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                booking: string;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_budget_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetStanding"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_budget_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBudget"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_budget_remove: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_member_list_all: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only those in one of these phases, with commas between them. */
                phase?: string | null;
                /** @description Of this role. */
                role?: string | null;
            };
            header?: never;
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InstanceMember_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_list: {
        parameters: {
            query?: {
                /** @description Of this app. */
                app?: string | null;
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Of this name. */
                name?: string | null;
                /** @description Only those in one of these phases, with commas between them. */
                phase?: string | null;
            };
            header?: never;
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Instance_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_create: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewInstance"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Instance"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_delete: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstanceChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_call_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call_id: number;
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceCall"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_call_answer: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                call_id: number;
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallReply"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_queue_cancel: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCall"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_queue_read: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCall"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_queue_submit: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCall"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_call_take: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallWait"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallTaken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_endpoint_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceEndpoints"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_endpoint_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The endpoint's name. */
                endpoint: string;
                instance_id: number;
                project: string;
                /** @description What is asked of the app. */
                rest: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_endpoint_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The endpoint's name. */
                endpoint: string;
                instance_id: number;
                project: string;
                /** @description What is asked of the app. */
                rest: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_endpoint_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The endpoint's name. */
                endpoint: string;
                instance_id: number;
                project: string;
                /** @description What is asked of the app. */
                rest: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_endpoint_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The endpoint's name. */
                endpoint: string;
                instance_id: number;
                project: string;
                /** @description What is asked of the app. */
                rest: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_endpoint_patch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The endpoint's name. */
                endpoint: string;
                instance_id: number;
                project: string;
                /** @description What is asked of the app. */
                rest: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_force_delete: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForcedDeletion"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_member_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only those in one of these phases, with commas between them. */
                phase?: string | null;
                /** @description Of this role. */
                role?: string | null;
            };
            header?: never;
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InstanceMember_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_member_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstanceMemberChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_operation_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
                /** @description Only those in this phase. */
                phase?: components["schemas"]["OperationPhase"] | null;
            };
            header?: never;
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_InstanceOperation_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_operation_begin: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOperation"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_operation_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                instance_id: number;
                operation_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceOperation"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_operation_advance: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                operation_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OperationProgress"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_operation_finish: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                operation_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OperationResult"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_report: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstanceReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_usage_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceUsage"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    instance_usage_report: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                instance_id: number;
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstanceUsageReport"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_member_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Member_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_member_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    artifact_let_pull: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPullCredential"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullCredential"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_quota_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaState"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_quota_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Quota"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_quota_rebalance: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rebalance"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaRebalanced"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_share_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShareState"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    project_share_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewShare"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_quota_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaState"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_quota_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Quota"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaSet"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_quota_rebalance: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Rebalance"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuotaRebalanced"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    rates_withdraw: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
                /** @description From when on the list holds again; 0: at once. */
                effective_ms?: number;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    record_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_JournalRecord_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    record_prove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                seq: number;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_runtime_plan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SharedRuntimeWish"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedPlan"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_runtime_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SharedRuntimeRow_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_runtime_create: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSharedRuntime"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedRuntimeDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_runtime_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedRuntimeView"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_runtime_delete: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_attachment_allow: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_attachment_end: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_attachment_finish: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_runtime_note_use: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CredentialUse"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_runtime_operator_token: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOperatorToken"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorToken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_worker_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_SharedPlacement_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_attachment_accept: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_attachment_leave: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_queue_cancel: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCall"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_queue_read: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCall"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_queue_submit: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSharedSubmit"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallDone"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    submit_policy_ask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubmitQuestion"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmitVerdict"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    submit_policy_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                policy: string;
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSubmitPolicy"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    submit_policy_end: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                policy: string;
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_worker_change: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                project: string;
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkerChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_settlement_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptedSettlement"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_settlement_plan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSettlement"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettlementPlan"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_use_read: {
        parameters: {
            query?: {
                /** @description Begin of the period; else the month's, in UTC. */
                from_ms?: number | null;
                /** @description End of the period; else now, which is the latest. */
                to_ms?: number | null;
            };
            header?: never;
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SharedUsage"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    shared_use_report: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                runtime: string;
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSharedUse"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_share_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShareState"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    tenant_share_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewShare"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    usage_read: {
        parameters: {
            query?: {
                /** @description Begin of the period; else the month's, in UTC. */
                from_ms?: number | null;
                /** @description End of the period; else now, which is the latest. */
                to_ms?: number | null;
            };
            header?: never;
            path: {
                tenant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    token_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Token_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    token_issue: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedToken"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    token_revoke: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path: {
                token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    trace_read: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                correlation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Timeline"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    usage_fleet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FleetUsage"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    record_watch: {
        parameters: {
            query?: {
                /** @description Go on after the record of this number. */
                after?: string | null;
                /** @description Whether to stay at the end of the journal. */
                follow?: string;
                /** @description Only these kinds; repeated, or with commas. */
                kinds?: string[] | null;
                tenant?: string | null;
            };
            header?: {
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    webhook_list: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                cursor?: string | null;
                /** @description Rows on one page, at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Page_Webhook_"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    webhook_set: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
                /** @description The `ETag` that was read; if it has moved on since, the answer is 412. */
                "If-Match"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSecret"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    webhook_delete: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPlace"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    webhook_deliveries: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookQuestion"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deliveries"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    webhook_replay: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookReplay"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplayed"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    webhook_rotate: {
        parameters: {
            query?: {
                /** @description Decide the same, and change nothing. */
                dry_run?: string;
            };
            header?: {
                /** @description The same key from the same caller gives the first answer again. */
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPlace"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSecret"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    self_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Self"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
    words_read: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Words"];
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            404: components["responses"]["Error404"];
            405: components["responses"]["Error405"];
            409: components["responses"]["Error409"];
            412: components["responses"]["Error412"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            428: components["responses"]["Error428"];
            429: components["responses"]["Error429"];
            500: components["responses"]["Error500"];
            503: components["responses"]["Error503"];
        };
    };
}
