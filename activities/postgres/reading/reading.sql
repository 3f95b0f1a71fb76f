-- Every read of knowledge, runs and events. Each statement names the project itself, beside the row-level security that would hide
-- other projects' rows anyway; matching uses plain comparison of text, because nothing else reaches an index under it. OFFSET 0 keeps a
-- search at the words' own index entries and their nodes, whatever the statistics say of the tables.

-- count_admissible --
SELECT count(*) FROM projection.knowledge_nodes
WHERE project_id = %(project)s AND state = ANY (%(states)s) AND kind = ANY (%(kinds)s) AND NOT forgotten;

-- term_frequencies --
SELECT t.term, count(*) FROM unnest(%(terms)s::text[]) AS w(term)
CROSS JOIN LATERAL (
  SELECT term, knowledge_id FROM projection.terms WHERE project_id = %(project)s AND term = w.term OFFSET 0
) AS t
CROSS JOIN LATERAL (
  SELECT state, kind, forgotten FROM projection.knowledge_nodes
  WHERE project_id = %(project)s AND knowledge_id = t.knowledge_id OFFSET 0
) AS n
WHERE n.state = ANY (%(states)s) AND n.kind = ANY (%(kinds)s) AND NOT n.forgotten
GROUP BY t.term;

-- term_postings --
SELECT t.term, t.knowledge_id, t.occurrences, n.state, n.confirmations FROM unnest(%(terms)s::text[]) AS w(term)
CROSS JOIN LATERAL (
  SELECT term, knowledge_id, occurrences FROM projection.terms WHERE project_id = %(project)s AND term = w.term OFFSET 0
) AS t
CROSS JOIN LATERAL (
  SELECT state, kind, forgotten, confirmations FROM projection.knowledge_nodes
  WHERE project_id = %(project)s AND knowledge_id = t.knowledge_id OFFSET 0
) AS n
WHERE n.state = ANY (%(states)s) AND n.kind = ANY (%(kinds)s) AND NOT n.forgotten;

-- nodes_by_id --
SELECT {n.nodes}, (SELECT count(*) FROM projection.evidence e WHERE e.project_id = n.project_id AND e.knowledge_id = n.knowledge_id)
FROM unnest(%(ids)s::text[]) WITH ORDINALITY AS i(knowledge_id, place)
JOIN projection.knowledge_nodes n ON n.project_id = %(project)s AND n.knowledge_id = i.knowledge_id
ORDER BY i.place;

-- evidence_of --
SELECT {evidence} FROM projection.evidence
WHERE project_id = %(project)s AND knowledge_id = ANY (%(ids)s) ORDER BY knowledge_id, version, evidence_id;

-- transitions_of --
SELECT version, transition, occurred_at, event_id, actor_id, run_id, reason FROM projection.knowledge_event_links
WHERE project_id = %(project)s AND knowledge_id = %(id)s ORDER BY version, event_id;

-- relations_of --
SELECT from_id, relation, to_id, event_id FROM projection.relationships
WHERE project_id = %(project)s AND (from_id = %(id)s OR to_id = %(id)s) ORDER BY from_id, relation, to_id;

-- approvals_of --
SELECT {approvals} FROM projection.approvals
WHERE project_id = %(project)s AND target = ANY (%(ids)s) ORDER BY requested_at, approval_id;

-- approvals_waiting --
SELECT {approvals}, deadline <= clock_timestamp() FROM projection.approvals
WHERE project_id = %(project)s AND state = 'pending' ORDER BY requested_at, approval_id LIMIT %(limit)s;

-- approval_by_id --
SELECT {approvals} FROM projection.approvals WHERE project_id = %(project)s AND approval_id = %(id)s;

-- moved_by_events --
SELECT l.event_id, l.transition, l.knowledge_id FROM projection.knowledge_event_links l
WHERE l.project_id = %(project)s AND l.source_id = ANY (%(sources)s) AND l.event_id = ANY (%(events)s)
ORDER BY l.version, l.event_id;

-- knowledge_events_of_run --
SELECT source_id, event_id FROM journal.events
WHERE project_id = %(project)s AND run_id = %(run)s AND type >= 'knowledge.' AND type < 'knowledge/' ORDER BY seq LIMIT %(limit)s;

-- run_by_id --
SELECT {runs} FROM projection.runs WHERE project_id = %(project)s AND run_id = %(id)s;

-- runs_of_task --
SELECT {runs} FROM projection.runs WHERE project_id = %(project)s AND task_id = %(id)s ORDER BY opened_at, run_id;

-- frames_of_run --
SELECT {frames} FROM projection.frames WHERE project_id = %(project)s AND run_id = %(run)s ORDER BY opened_at, frame_id;

-- frame_by_id --
SELECT {frames} FROM projection.frames WHERE project_id = %(project)s AND frame_id = %(id)s;

-- task_by_id --
SELECT {tasks} FROM projection.tasks WHERE project_id = %(project)s AND task_id = %(id)s;

-- operations_not_well --
SELECT {operations} FROM projection.operations
WHERE project_id = %(project)s AND run_id = %(run)s AND (state <> 'completed' OR coalesce(exit_code, 0) <> 0)
ORDER BY version, operation_id LIMIT %(limit)s;

-- commands_of --
SELECT ended_event, command, operation_id FROM projection.operations
WHERE project_id = %(project)s AND ended_event = ANY (%(events)s);

-- extractions_of_run --
SELECT {extractions} FROM projection.extractions
WHERE project_id = %(project)s AND run_id = %(run)s ORDER BY started_at, extraction_id, n;

-- extraction_of_trajectory --
SELECT {extractions} FROM projection.extractions
WHERE project_id = %(project)s AND trajectory_id = %(trajectory)s ORDER BY n DESC LIMIT 1;

-- event_by_id --
SELECT seq, received_at, origin_hash, content_hash, prev_hash, hash, body FROM journal.events
WHERE project_id = %(project)s AND event_id = %(id)s ORDER BY seq LIMIT 1;

-- bodies_by_id --
SELECT DISTINCT ON (event_id) event_id, seq, body FROM journal.events
WHERE project_id = %(project)s AND event_id = ANY (%(events)s) ORDER BY event_id, seq;

-- bodies_of_run --
SELECT seq, body FROM journal.events WHERE project_id = %(project)s AND run_id = %(run)s ORDER BY seq;

-- ids_of_runs --
SELECT run_id FROM projection.runs
WHERE project_id = %(project)s AND run_id >= %(prefix)s AND run_id < %(beyond)s ORDER BY 1 LIMIT %(limit)s;

-- ids_of_frames --
SELECT frame_id FROM projection.frames
WHERE project_id = %(project)s AND frame_id >= %(prefix)s AND frame_id < %(beyond)s ORDER BY 1 LIMIT %(limit)s;

-- ids_of_tasks --
SELECT task_id FROM projection.tasks
WHERE project_id = %(project)s AND task_id >= %(prefix)s AND task_id < %(beyond)s ORDER BY 1 LIMIT %(limit)s;

-- ids_of_events --
SELECT DISTINCT event_id FROM journal.events
WHERE project_id = %(project)s AND event_id >= %(prefix)s AND event_id < %(beyond)s ORDER BY 1 LIMIT %(limit)s;

-- ids_of_knowledge --
SELECT knowledge_id FROM projection.knowledge_nodes
WHERE project_id = %(project)s AND knowledge_id >= %(prefix)s AND knowledge_id < %(beyond)s AND (NOT forgotten OR %(hidden)s)
ORDER BY 1 LIMIT %(limit)s;

-- ids_of_approvals --
SELECT approval_id FROM projection.approvals
WHERE project_id = %(project)s AND approval_id >= %(prefix)s AND approval_id < %(beyond)s ORDER BY 1 LIMIT %(limit)s;

-- approvals_of_target_ids --
SELECT approval_id, state FROM projection.approvals
WHERE project_id = %(project)s AND target = %(id)s ORDER BY (state = 'pending') DESC, requested_at DESC, approval_id;

-- count_rows --
SELECT (SELECT head_seq FROM journal.projects WHERE project_id = %(project)s),
       (SELECT count(*) FROM projection.runs WHERE project_id = %(project)s),
       (SELECT count(*) FROM projection.operations WHERE project_id = %(project)s);

-- count_states --
SELECT 'knowledge', state, count(*) FROM projection.knowledge_nodes WHERE project_id = %(project)s AND NOT forgotten GROUP BY state
UNION ALL
SELECT 'approvals', state, count(*) FROM projection.approvals WHERE project_id = %(project)s GROUP BY state
UNION ALL
SELECT 'extractions', state, count(*) FROM projection.extractions WHERE project_id = %(project)s GROUP BY state
ORDER BY 1, 2;
