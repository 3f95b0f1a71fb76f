-- The journal: append-only events per project, gapless and chained, and the one function that writes them.
-- Every table is under forced row-level security from its first moment; the application role owns nothing.

CREATE SCHEMA journal;
CREATE SCHEMA projection;

-- The granted scopes of this transaction. Raises when none was set: after one SET LOCAL a missing setting reads as ''.
CREATE FUNCTION journal.scope() RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  granted text := current_setting('temporality.scopes', true);
BEGIN
  IF granted IS NULL OR granted = '' THEN
    RAISE EXCEPTION 'no scope is granted in this transaction' USING ERRCODE = 'insufficient_privilege',
      HINT = 'Open it through the pool with the project it is for.';
  END IF;
  RETURN string_to_array(granted, ',');
END $$;

CREATE TABLE journal.projects (
  project_id text COLLATE "C" NOT NULL PRIMARY KEY,
  head_seq bigint NOT NULL DEFAULT 0,
  head_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
  head_received_at timestamptz NOT NULL DEFAULT '-infinity',
  fold_version integer NOT NULL
);

CREATE TABLE journal.events (
  project_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  source_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  run_id text COLLATE "C",
  operation_id text COLLATE "C",
  occurred_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  -- what the producer said, before normalising and redacting: decides between a repetition and a conflict
  origin_hash bytea NOT NULL,
  content_hash bytea NOT NULL,
  prev_hash bytea NOT NULL,
  hash bytea NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (project_id, seq)
);
-- event_id first: the same index finds an event by the start of its id
CREATE UNIQUE INDEX events_identity ON journal.events (project_id, event_id, source_id);
CREATE INDEX events_of_run ON journal.events (project_id, run_id, seq) WHERE run_id IS NOT NULL;

-- Keys of subjects whose personal fields are encrypted; a destroyed key erases them and leaves the chain whole.
CREATE TABLE journal.subject_keys (
  project_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  key bytea,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  destroyed_at timestamptz,
  PRIMARY KEY (project_id, key_id),
  CHECK ((key IS NULL) = (destroyed_at IS NOT NULL))
);

-- Bodies by hash, in parts of 1 MiB.
CREATE TABLE journal.artifacts (
  project_id text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  part integer NOT NULL,
  parts integer NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (project_id, sha256, part)
);

-- Files handed in for import, as they are and with their secrets: kept until the import has read them, and then deleted.
CREATE TABLE journal.incoming (LIKE journal.artifacts INCLUDING ALL);

-- Projections: disposable folds of the journal; `version` is the last event folded into a row.

CREATE TABLE projection.runs (
  project_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  title text COLLATE "C",
  format text COLLATE "C",
  native_id text COLLATE "C",
  integration text COLLATE "C" NOT NULL,
  workspace text COLLATE "C",
  task_id text COLLATE "C",
  state text COLLATE "C" NOT NULL,
  opened_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  digest text COLLATE "C" NOT NULL,
  trajectory_id text COLLATE "C",
  closes bigint NOT NULL,
  events bigint NOT NULL,
  turns bigint NOT NULL,
  tool_calls bigint NOT NULL,
  tool_results bigint NOT NULL,
  errors bigint NOT NULL,
  unknown bigint NOT NULL,
  PRIMARY KEY (project_id, run_id)
);

CREATE TABLE projection.frames (
  project_id text COLLATE "C" NOT NULL,
  frame_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  parent_frame_id text COLLATE "C",
  title text COLLATE "C",
  kind text COLLATE "C" NOT NULL,
  opened_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  events bigint NOT NULL,
  tool_calls bigint NOT NULL,
  PRIMARY KEY (project_id, frame_id)
);

CREATE TABLE projection.tasks (
  project_id text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  title text COLLATE "C",
  state text COLLATE "C" NOT NULL,
  opened_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  events bigint NOT NULL,
  PRIMARY KEY (project_id, task_id)
);

CREATE TABLE projection.operations (
  project_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  frame_id text COLLATE "C",
  tool text COLLATE "C",
  command text COLLATE "C",
  argv jsonb,
  workspace text COLLATE "C",
  state text COLLATE "C" NOT NULL,
  exit_code bigint,
  success boolean,
  success_basis text COLLATE "C",
  started_event text COLLATE "C",
  ended_event text COLLATE "C",
  late bigint NOT NULL,
  PRIMARY KEY (project_id, run_id, operation_id)
);

CREATE TABLE projection.knowledge_nodes (
  project_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  proposition text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  valid_from timestamptz NOT NULL,
  valid_to timestamptz,
  updated_at timestamptz NOT NULL,
  generation bigint NOT NULL,
  workspace text COLLATE "C",
  producer text COLLATE "C" NOT NULL,
  producer_version text COLLATE "C" NOT NULL,
  origin_run text COLLATE "C",
  provenance text COLLATE "C",
  cited jsonb NOT NULL,
  runs jsonb NOT NULL,
  confirmations bigint NOT NULL,
  uses bigint NOT NULL,
  challenges bigint NOT NULL,
  reason_code text COLLATE "C",
  reason text COLLATE "C",
  replaced_by text COLLATE "C",
  earlier text COLLATE "C",
  forgotten boolean NOT NULL,
  PRIMARY KEY (project_id, knowledge_id)
);

CREATE TABLE projection.knowledge_event_links (
  project_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  source_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  transition text COLLATE "C" NOT NULL,
  actor_id text COLLATE "C",
  run_id text COLLATE "C",
  occurred_at timestamptz NOT NULL,
  reason text COLLATE "C",
  PRIMARY KEY (project_id, source_id, event_id, knowledge_id)
);

CREATE TABLE projection.evidence (
  project_id text COLLATE "C" NOT NULL,
  evidence_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  event_ref text COLLATE "C" NOT NULL,
  source_uri text COLLATE "C" NOT NULL,
  run_id text COLLATE "C",
  observed_at timestamptz NOT NULL,
  content_hash text COLLATE "C",
  artifact_ref text COLLATE "C",
  span_field text COLLATE "C",
  span_start bigint,
  span_end bigint,
  quote text COLLATE "C",
  cited_by text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, evidence_id, knowledge_id)
);

CREATE TABLE projection.relationships (
  project_id text COLLATE "C" NOT NULL,
  from_id text COLLATE "C" NOT NULL,
  relation text COLLATE "C" NOT NULL,
  to_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, from_id, relation, to_id)
);

CREATE TABLE projection.terms (
  project_id text COLLATE "C" NOT NULL,
  term text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  occurrences bigint NOT NULL,
  PRIMARY KEY (project_id, term, knowledge_id)
);

CREATE TABLE projection.approvals (
  project_id text COLLATE "C" NOT NULL,
  approval_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  state text COLLATE "C" NOT NULL,
  application text COLLATE "C" NOT NULL,
  action_kind text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  proposed_action jsonb NOT NULL,
  origin_finding text COLLATE "C",
  criticality text COLLATE "C" NOT NULL,
  requested_at timestamptz NOT NULL,
  deadline timestamptz NOT NULL,
  proposed_by_run text COLLATE "C",
  requested_event text COLLATE "C" NOT NULL,
  decision_id text COLLATE "C",
  reviewer text COLLATE "C",
  decided_at timestamptz,
  rationale text COLLATE "C",
  replacement text COLLATE "C",
  reason text COLLATE "C",
  refused_decisions bigint NOT NULL,
  PRIMARY KEY (project_id, approval_id)
);

CREATE TABLE projection.extractions (
  project_id text COLLATE "C" NOT NULL,
  extraction_id text COLLATE "C" NOT NULL,
  n bigint NOT NULL,
  version bigint NOT NULL,
  run_id text COLLATE "C",
  trajectory_id text COLLATE "C" NOT NULL,
  extractor text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  outcome jsonb NOT NULL,
  reason text COLLATE "C",
  PRIMARY KEY (project_id, extraction_id, n)
);


-- No index but the primary key starts with the project: where nothing was analysed yet, the planner would take any that does.
CREATE INDEX terms_of_node ON projection.terms (knowledge_id, project_id);
CREATE INDEX evidence_of_node ON projection.evidence (knowledge_id, project_id);
CREATE INDEX links_of_node ON projection.knowledge_event_links (knowledge_id, project_id, version);
CREATE INDEX operations_of_event ON projection.operations (ended_event, project_id);
CREATE INDEX frames_of_run ON projection.frames (run_id, project_id);
CREATE INDEX runs_of_task ON projection.runs (task_id, project_id) WHERE task_id IS NOT NULL;
CREATE INDEX approvals_of_target ON projection.approvals (target, project_id);
CREATE INDEX approvals_waiting ON projection.approvals (deadline, project_id) WHERE state = 'pending';
CREATE INDEX nodes_by_state ON projection.knowledge_nodes (state, project_id);
CREATE UNIQUE INDEX extractions_once ON projection.extractions (trajectory_id, extractor, n, project_id);

-- Rows folded outside the lock. `version` counts from the start of the batch; p_base is the head it follows.
CREATE FUNCTION projection.write(p_rows jsonb, p_base bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_rows ? 'runs' THEN
    INSERT INTO projection.runs AS t (project_id, run_id, version, title, format, native_id, integration, workspace, task_id, state, opened_at, last_at, digest, trajectory_id, closes, events, turns, tool_calls, tool_results, errors, unknown)
    SELECT r.project_id, r.run_id, p_base + r.version, r.title, r.format, r.native_id, r.integration, r.workspace, r.task_id, r.state, r.opened_at, r.last_at, r.digest, r.trajectory_id, r.closes, r.events, r.turns, r.tool_calls, r.tool_results, r.errors, r.unknown
    FROM jsonb_populate_recordset(NULL::projection.runs, p_rows -> 'runs') AS r
    ON CONFLICT (project_id, run_id) DO UPDATE SET
      version = excluded.version,
      title = excluded.title,
      format = excluded.format,
      native_id = excluded.native_id,
      integration = excluded.integration,
      workspace = excluded.workspace,
      task_id = excluded.task_id,
      state = excluded.state,
      opened_at = excluded.opened_at,
      last_at = excluded.last_at,
      digest = excluded.digest,
      trajectory_id = excluded.trajectory_id,
      closes = excluded.closes,
      events = excluded.events,
      turns = excluded.turns,
      tool_calls = excluded.tool_calls,
      tool_results = excluded.tool_results,
      errors = excluded.errors,
      unknown = excluded.unknown;
  END IF;
  IF p_rows ? 'frames' THEN
    INSERT INTO projection.frames AS t (project_id, frame_id, version, run_id, parent_frame_id, title, kind, opened_at, last_at, events, tool_calls)
    SELECT r.project_id, r.frame_id, p_base + r.version, r.run_id, r.parent_frame_id, r.title, r.kind, r.opened_at, r.last_at, r.events, r.tool_calls
    FROM jsonb_populate_recordset(NULL::projection.frames, p_rows -> 'frames') AS r
    ON CONFLICT (project_id, frame_id) DO UPDATE SET
      version = excluded.version,
      run_id = excluded.run_id,
      parent_frame_id = excluded.parent_frame_id,
      title = excluded.title,
      kind = excluded.kind,
      opened_at = excluded.opened_at,
      last_at = excluded.last_at,
      events = excluded.events,
      tool_calls = excluded.tool_calls;
  END IF;
  IF p_rows ? 'tasks' THEN
    INSERT INTO projection.tasks AS t (project_id, task_id, version, title, state, opened_at, last_at, events)
    SELECT r.project_id, r.task_id, p_base + r.version, r.title, r.state, r.opened_at, r.last_at, r.events
    FROM jsonb_populate_recordset(NULL::projection.tasks, p_rows -> 'tasks') AS r
    ON CONFLICT (project_id, task_id) DO UPDATE SET
      version = excluded.version,
      title = excluded.title,
      state = excluded.state,
      opened_at = excluded.opened_at,
      last_at = excluded.last_at,
      events = excluded.events;
  END IF;
  IF p_rows ? 'operations' THEN
    INSERT INTO projection.operations AS t (project_id, run_id, operation_id, version, frame_id, tool, command, argv, workspace, state, exit_code, success, success_basis, started_event, ended_event, late)
    SELECT r.project_id, r.run_id, r.operation_id, p_base + r.version, r.frame_id, r.tool, r.command, r.argv, r.workspace, r.state, r.exit_code, r.success, r.success_basis, r.started_event, r.ended_event, r.late
    FROM jsonb_populate_recordset(NULL::projection.operations, p_rows -> 'operations') AS r
    ON CONFLICT (project_id, run_id, operation_id) DO UPDATE SET
      version = excluded.version,
      frame_id = excluded.frame_id,
      tool = excluded.tool,
      command = excluded.command,
      argv = excluded.argv,
      workspace = excluded.workspace,
      state = excluded.state,
      exit_code = excluded.exit_code,
      success = excluded.success,
      success_basis = excluded.success_basis,
      started_event = excluded.started_event,
      ended_event = excluded.ended_event,
      late = excluded.late;
  END IF;
  IF p_rows ? 'knowledge_nodes' THEN
    INSERT INTO projection.knowledge_nodes AS t (project_id, knowledge_id, version, proposition, kind, state, valid_from, valid_to, updated_at, generation, workspace, producer, producer_version, origin_run, provenance, cited, runs, confirmations, uses, challenges, reason_code, reason, replaced_by, earlier, forgotten)
    SELECT r.project_id, r.knowledge_id, p_base + r.version, r.proposition, r.kind, r.state, r.valid_from, r.valid_to, r.updated_at, r.generation, r.workspace, r.producer, r.producer_version, r.origin_run, r.provenance, r.cited, r.runs, r.confirmations, r.uses, r.challenges, r.reason_code, r.reason, r.replaced_by, r.earlier, r.forgotten
    FROM jsonb_populate_recordset(NULL::projection.knowledge_nodes, p_rows -> 'knowledge_nodes') AS r
    ON CONFLICT (project_id, knowledge_id) DO UPDATE SET
      version = excluded.version,
      proposition = excluded.proposition,
      kind = excluded.kind,
      state = excluded.state,
      valid_from = excluded.valid_from,
      valid_to = excluded.valid_to,
      updated_at = excluded.updated_at,
      generation = excluded.generation,
      workspace = excluded.workspace,
      producer = excluded.producer,
      producer_version = excluded.producer_version,
      origin_run = excluded.origin_run,
      provenance = excluded.provenance,
      cited = excluded.cited,
      runs = excluded.runs,
      confirmations = excluded.confirmations,
      uses = excluded.uses,
      challenges = excluded.challenges,
      reason_code = excluded.reason_code,
      reason = excluded.reason,
      replaced_by = excluded.replaced_by,
      earlier = excluded.earlier,
      forgotten = excluded.forgotten;
  END IF;
  IF p_rows ? 'knowledge_event_links' THEN
    INSERT INTO projection.knowledge_event_links (project_id, knowledge_id, source_id, event_id, version, transition, actor_id, run_id, occurred_at, reason)
    SELECT r.project_id, r.knowledge_id, r.source_id, r.event_id, p_base + r.version, r.transition, r.actor_id, r.run_id, r.occurred_at, r.reason
    FROM jsonb_populate_recordset(NULL::projection.knowledge_event_links, p_rows -> 'knowledge_event_links') AS r
    ON CONFLICT (project_id, source_id, event_id, knowledge_id) DO NOTHING;
  END IF;
  IF p_rows ? 'evidence' THEN
    INSERT INTO projection.evidence (project_id, evidence_id, knowledge_id, version, type, event_ref, source_uri, run_id, observed_at, content_hash, artifact_ref, span_field, span_start, span_end, quote, cited_by)
    SELECT r.project_id, r.evidence_id, r.knowledge_id, p_base + r.version, r.type, r.event_ref, r.source_uri, r.run_id, r.observed_at, r.content_hash, r.artifact_ref, r.span_field, r.span_start, r.span_end, r.quote, r.cited_by
    FROM jsonb_populate_recordset(NULL::projection.evidence, p_rows -> 'evidence') AS r
    ON CONFLICT (project_id, evidence_id, knowledge_id) DO NOTHING;
  END IF;
  IF p_rows ? 'relationships' THEN
    INSERT INTO projection.relationships (project_id, from_id, relation, to_id, version, event_id)
    SELECT r.project_id, r.from_id, r.relation, r.to_id, p_base + r.version, r.event_id
    FROM jsonb_populate_recordset(NULL::projection.relationships, p_rows -> 'relationships') AS r
    ON CONFLICT (project_id, from_id, relation, to_id) DO NOTHING;
  END IF;
  IF p_rows ? 'terms' THEN
    INSERT INTO projection.terms (project_id, term, knowledge_id, version, occurrences)
    SELECT r.project_id, r.term, r.knowledge_id, p_base + r.version, r.occurrences
    FROM jsonb_populate_recordset(NULL::projection.terms, p_rows -> 'terms') AS r
    ON CONFLICT (project_id, term, knowledge_id) DO NOTHING;
  END IF;
  IF p_rows ? 'approvals' THEN
    INSERT INTO projection.approvals AS t (project_id, approval_id, version, state, application, action_kind, target, proposed_action, origin_finding, criticality, requested_at, deadline, proposed_by_run, requested_event, decision_id, reviewer, decided_at, rationale, replacement, reason, refused_decisions)
    SELECT r.project_id, r.approval_id, p_base + r.version, r.state, r.application, r.action_kind, r.target, r.proposed_action, r.origin_finding, r.criticality, r.requested_at, r.deadline, r.proposed_by_run, r.requested_event, r.decision_id, r.reviewer, r.decided_at, r.rationale, r.replacement, r.reason, r.refused_decisions
    FROM jsonb_populate_recordset(NULL::projection.approvals, p_rows -> 'approvals') AS r
    ON CONFLICT (project_id, approval_id) DO UPDATE SET
      version = excluded.version,
      state = excluded.state,
      application = excluded.application,
      action_kind = excluded.action_kind,
      target = excluded.target,
      proposed_action = excluded.proposed_action,
      origin_finding = excluded.origin_finding,
      criticality = excluded.criticality,
      requested_at = excluded.requested_at,
      deadline = excluded.deadline,
      proposed_by_run = excluded.proposed_by_run,
      requested_event = excluded.requested_event,
      decision_id = excluded.decision_id,
      reviewer = excluded.reviewer,
      decided_at = excluded.decided_at,
      rationale = excluded.rationale,
      replacement = excluded.replacement,
      reason = excluded.reason,
      refused_decisions = excluded.refused_decisions;
  END IF;
  IF p_rows ? 'extractions' THEN
    INSERT INTO projection.extractions AS t (project_id, extraction_id, n, version, run_id, trajectory_id, extractor, state, started_at, ended_at, outcome, reason)
    SELECT r.project_id, r.extraction_id, r.n, p_base + r.version, r.run_id, r.trajectory_id, r.extractor, r.state, r.started_at, r.ended_at, r.outcome, r.reason
    FROM jsonb_populate_recordset(NULL::projection.extractions, p_rows -> 'extractions') AS r
    ON CONFLICT (project_id, extraction_id, n) DO UPDATE SET
      version = excluded.version,
      run_id = excluded.run_id,
      trajectory_id = excluded.trajectory_id,
      extractor = excluded.extractor,
      state = excluded.state,
      started_at = excluded.started_at,
      ended_at = excluded.ended_at,
      outcome = excluded.outcome,
      reason = excluded.reason;
  END IF;
END $$;

-- Whether an aggregate that was read outside the lock has moved since. Version 0: it did not exist.
CREATE FUNCTION projection.stale(p_project text, p_read jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_read ? 'runs' AND EXISTS (
    SELECT FROM jsonb_to_recordset(p_read -> 'runs') AS e(run_id text, version bigint)
    LEFT JOIN LATERAL (SELECT version FROM projection.runs AS t WHERE t.project_id = p_project AND t.run_id = e.run_id OFFSET 0) AS v ON true
    WHERE coalesce(v.version, 0) <> e.version
  ) THEN RETURN true; END IF;
  IF p_read ? 'frames' AND EXISTS (
    SELECT FROM jsonb_to_recordset(p_read -> 'frames') AS e(frame_id text, version bigint)
    LEFT JOIN LATERAL (SELECT version FROM projection.frames AS t WHERE t.project_id = p_project AND t.frame_id = e.frame_id OFFSET 0) AS v ON true
    WHERE coalesce(v.version, 0) <> e.version
  ) THEN RETURN true; END IF;
  IF p_read ? 'tasks' AND EXISTS (
    SELECT FROM jsonb_to_recordset(p_read -> 'tasks') AS e(task_id text, version bigint)
    LEFT JOIN LATERAL (SELECT version FROM projection.tasks AS t WHERE t.project_id = p_project AND t.task_id = e.task_id OFFSET 0) AS v ON true
    WHERE coalesce(v.version, 0) <> e.version
  ) THEN RETURN true; END IF;
  IF p_read ? 'operations' AND EXISTS (
    SELECT FROM jsonb_to_recordset(p_read -> 'operations') AS e(run_id text, operation_id text, version bigint)
    LEFT JOIN LATERAL (SELECT version FROM projection.operations AS t WHERE t.project_id = p_project AND t.run_id = e.run_id AND t.operation_id = e.operation_id OFFSET 0) AS v ON true
    WHERE coalesce(v.version, 0) <> e.version
  ) THEN RETURN true; END IF;
  IF p_read ? 'knowledge_nodes' AND EXISTS (
    SELECT FROM jsonb_to_recordset(p_read -> 'knowledge_nodes') AS e(knowledge_id text, version bigint)
    LEFT JOIN LATERAL (SELECT version FROM projection.knowledge_nodes AS t WHERE t.project_id = p_project AND t.knowledge_id = e.knowledge_id OFFSET 0) AS v ON true
    WHERE coalesce(v.version, 0) <> e.version
  ) THEN RETURN true; END IF;
  IF p_read ? 'approvals' AND EXISTS (
    SELECT FROM jsonb_to_recordset(p_read -> 'approvals') AS e(approval_id text, version bigint)
    LEFT JOIN LATERAL (SELECT version FROM projection.approvals AS t WHERE t.project_id = p_project AND t.approval_id = e.approval_id OFFSET 0) AS v ON true
    WHERE coalesce(v.version, 0) <> e.version
  ) THEN RETURN true; END IF;
  IF p_read ? 'extractions' AND EXISTS (
    SELECT FROM jsonb_to_recordset(p_read -> 'extractions') AS e(extraction_id text, n bigint, version bigint)
    LEFT JOIN LATERAL (SELECT version FROM projection.extractions AS t WHERE t.project_id = p_project AND t.extraction_id = e.extraction_id AND t.n = e.n OFFSET 0) AS v ON true
    WHERE coalesce(v.version, 0) <> e.version
  ) THEN RETURN true; END IF;
  RETURN false;
END $$;

-- Which of the events are recorded already: [place, seq, origin hash], or NULL. Asked as an ordered range with sorting off, so that it
-- is one probe of events_identity for each event also where nothing was analysed yet: with plain equality the planner may take the
-- primary key, which starts with the project, and read all of it.
CREATE FUNCTION journal.recorded(p_project text, p_event_id text[], p_source text[]) RETURNS jsonb LANGUAGE plpgsql STABLE
  SET enable_sort = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  RETURN (
    SELECT jsonb_agg(jsonb_build_array(i.n, e.seq, encode(e.origin_hash, 'hex')))
    FROM unnest(p_event_id, p_source) WITH ORDINALITY AS i(event_id, source_id, n)
    CROSS JOIN LATERAL (
      SELECT seq, origin_hash FROM journal.events
      WHERE project_id = p_project AND event_id >= i.event_id AND event_id <= i.event_id AND source_id = i.source_id
      ORDER BY event_id LIMIT 1
    ) AS e
  );
END $$;

-- Append and fold in one transaction under the project's row lock. The lock is its own statement and every read follows it.
-- Answers: appended | duplicates (nothing written; which) | stale (fold again) | late (past the deadline) | fold (other version).
-- Duplicates are looked for only where the caller expects some (p_repeating); else the unique index refuses them (events_identity), and
-- the caller asks again: looking costs a third of a single append, and new events are the rule.
CREATE FUNCTION journal.append(
  p_project text, p_fold_version integer, p_expected_head bigint,
  p_source text[], p_event_id text[], p_type text[], p_run text[], p_operation text[],
  p_occurred timestamptz[], p_origin bytea[], p_content bytea[], p_body bytea[],
  p_read jsonb, p_rows jsonb, p_deadline timestamptz, p_decided_at timestamptz, p_repeating boolean,
  OUT status text, OUT base bigint, OUT received timestamptz, OUT detail jsonb
) LANGUAGE plpgsql
  -- every statement in it is one probe of a key whatever the values are; planning each anew is a tenth of a single append
  SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  head journal.projects;
  previous bytea;
  n integer := coalesce(array_length(p_event_id, 1), 0);
  links bytea[];
  at_bytes bytea;
BEGIN
  PERFORM set_config('temporality.scopes', p_project, true);
  SELECT * INTO head FROM journal.projects WHERE project_id = p_project FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO journal.projects (project_id, fold_version) VALUES (p_project, p_fold_version) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM journal.projects WHERE project_id = p_project FOR UPDATE;
  END IF;
  base := head.head_seq;
  received := greatest(head.head_received_at, clock_timestamp());
  IF head.fold_version <> p_fold_version THEN
    status := 'fold';
    detail := to_jsonb(head.fold_version);
    RETURN;
  END IF;
  IF p_deadline IS NOT NULL AND greatest(clock_timestamp(), p_decided_at) >= p_deadline THEN
    status := 'late';
    RETURN;
  END IF;
  IF p_repeating THEN
    detail := journal.recorded(p_project, p_event_id, p_source);
    IF detail IS NOT NULL THEN
      status := 'duplicates';
      RETURN;
    END IF;
  END IF;
  IF head.head_seq <> p_expected_head AND projection.stale(p_project, p_read) THEN
    status := 'stale';
    RETURN;
  END IF;
  status := 'appended';
  IF n = 0 THEN
    RETURN;
  END IF;
  previous := head.head_hash;
  links := array_fill(NULL::bytea, ARRAY[n + 1]);
  links[1] := previous;
  at_bytes := int8send((extract(epoch FROM received) * 1000000)::bigint);
  FOR i IN 1 .. n LOOP
    previous := sha256(previous || int8send(base + i) || at_bytes || p_content[i]);
    links[i + 1] := previous;
  END LOOP;
  INSERT INTO journal.events (project_id, seq, source_id, event_id, type, run_id, operation_id, occurred_at, received_at,
                              origin_hash, content_hash, prev_hash, hash, body)
  SELECT p_project, base + i.n, i.source_id, i.event_id, i.type, i.run_id, i.operation_id, i.occurred_at, received,
         i.origin_hash, i.content_hash, i.prev_hash, i.hash, i.body
  FROM unnest(p_source, p_event_id, p_type, p_run, p_operation, p_occurred, p_origin, p_content, links[1:n], links[2:n + 1], p_body)
    WITH ORDINALITY AS i(source_id, event_id, type, run_id, operation_id, occurred_at, origin_hash, content_hash, prev_hash,
                         hash, body, n);
  PERFORM projection.write(p_rows, base);
  UPDATE journal.projects SET head_seq = base + n, head_hash = previous, head_received_at = received
  WHERE project_id = p_project;
END $$;

-- Names of all projects, for commands over the whole installation: ids only, no row of theirs.
CREATE FUNCTION journal.project_ids() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS
  'SELECT project_id FROM journal.projects ORDER BY project_id';

DO $$
DECLARE
  t regclass;
BEGIN
  FOREACH t IN ARRAY ARRAY[
    'journal.projects', 'journal.events', 'journal.subject_keys', 'journal.artifacts', 'journal.incoming',
    'projection.runs',
    'projection.frames',
    'projection.tasks',
    'projection.operations',
    'projection.knowledge_nodes',
    'projection.knowledge_event_links',
    'projection.evidence',
    'projection.relationships',
    'projection.terms',
    'projection.approvals',
    'projection.extractions'
  ]::regclass[] LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY granted ON %s USING (project_id = ANY ((SELECT journal.scope())::text[]))', t);
  END LOOP;
END $$;
CREATE POLICY names_of_projects ON journal.projects FOR SELECT TO CURRENT_USER USING (true);

REVOKE ALL ON FUNCTION journal.project_ids() FROM PUBLIC;
GRANT USAGE ON SCHEMA journal, projection TO temporality_app;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA journal, projection TO temporality_app;
GRANT SELECT, INSERT ON journal.events, journal.artifacts TO temporality_app;
GRANT SELECT, INSERT, DELETE ON journal.incoming TO temporality_app;
GRANT SELECT, INSERT, UPDATE ON journal.projects, journal.subject_keys TO temporality_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA projection TO temporality_app;
